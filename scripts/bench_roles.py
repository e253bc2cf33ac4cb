"""Which model, which prompt: stored situations of each role, asked of any endpoint, and judged.

python -m scripts.bench_roles collect runs/sgemm-1 --out sgemm.json.gz
python -m scripts.bench_roles ask docs/measured/situations/*.json.gz --config my.yaml --out a.jsonl
python -m scripts.bench_roles compare a.jsonl b.jsonl

`ask` goes on where it was stopped when it is called again with the same --out. Scores are printed
as JSON, and as a table on standard error. docs/models.md explains them.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError

from engine.config_errors import ConfigError
from engine.config_file import load_config
from engine.ending import kept_interrupts
from engine.llm.gateway import CallsOver
from engine.store.store import StoreError
from evaluators.device_info import BackendMissing, DeviceFault
from evaluators.tasks.arguments import TaskError
from operators.llm.prompts.templates import replaced_by
from operators.llm.question import ModelUnavailable
from scripts.lib.arguments import whole_from
from scripts.roles.answers import Answers
from scripts.roles.bench import asked, asked_config, bench, checked_prompts, models_of, tasks_of
from scripts.roles.collect import collect
from scripts.roles.scores import compared, scores
from scripts.roles.situations import BENCHED, Situation, SituationError, read, write
from scripts.roles.table import compare_lines, score_lines

EACH = 12
TELL_EVERY = 10


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        do: Callable[[argparse.Namespace], None] = given.do
        with kept_interrupts():
            do(given)
    except (CallsOver, ModelUnavailable) as error:
        print(f"bench_roles: {error}; answers are kept in {given.out}", file=sys.stderr)
        return 1
    except TemplateError as error:
        said = " ".join(str(error.message).split())
        if isinstance(error, TemplateSyntaxError):
            said = f"{error.name}, line {error.lineno}: {said}"
        print(
            f"bench_roles: a template of {given.prompts} can't be filled: {said}", file=sys.stderr
        )
        return 1
    except (
        BackendMissing,
        ConfigError,
        DeviceFault,
        SituationError,
        StoreError,
        TaskError,
    ) as error:
        print(f"bench_roles: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bench_roles: stopped; the same command goes on", file=sys.stderr)
        return 130
    return 0


# --- what it does -------------------------------------------------------------------------------


def _collect(given: argparse.Namespace) -> None:
    found = [collect(run, given.roles, each=given.each, note=given.note) for run in given.runs]
    write(given.out, found)
    for run, one in zip(given.runs, found, strict=True):
        counts = {role: sum(s.role == role for s in one.situations) for role in given.roles}
        there = one.made["situations_there"]
        told = ", ".join(f"{counts[role]} of {there[role]} {role}" for role in given.roles)
        print(f"{run}: {told}; {len(one.individuals)} individuals", file=sys.stderr)


def _ask(given: argparse.Namespace) -> None:
    config = asked_config(load_config(given.config, given.set))
    there = read(given.situations)
    situations = _chosen(there, given)
    roles = [role for role in BENCHED if any(one.role == role for one in situations)]
    if given.follow and "designer" in roles and "writer" not in roles:
        roles.append("writer")
    models = models_of(config, roles, model=given.model, temperature=given.temperature)
    tasks = tasks_of(situations, given.task)
    prompts = replaced_by(checked_prompts(given.prompts)) if given.prompts else nullcontext()
    with prompts:
        answers = Answers.kept(given.out, asked(config, models, given.follow))
        bench(
            situations,
            config,
            models,
            tasks,
            repeats=given.repeats,
            follow=given.follow,
            judging=given.judge,
            answers=answers,
            told=_progress,
        )
    _show(answers)


def _chosen(there: Sequence[Situation], given: argparse.Namespace) -> list[Situation]:
    """Raises SituationError: there is none, or none for a role that was named."""
    files = ", ".join(map(str, given.situations))
    on = [one for one in there if given.backend in (None, one.campaign.device.backend)]
    if not on:
        backends = sorted({one.campaign.device.backend for one in there})
        raise SituationError(
            f"{files}: no situation is of backend {given.backend!r}; there are those of "
            f"{', '.join(backends) or 'none'}"
        )
    for role in given.roles or ():
        if not any(one.role == role for one in on):
            raise SituationError(
                f"{files}: no situation is for {role}; name other files, or other --roles"
            )
    return [one for one in on if one.role in (given.roles or BENCHED)]


def _progress(what: str, done: int, of: int) -> None:
    if done % TELL_EVERY == 0 or done == of:
        print(f"{what} {done} of {of}", file=sys.stderr, flush=True)


def _scores(given: argparse.Namespace) -> None:
    _show(Answers.read(given.answers))


def _show(answers: Answers) -> None:
    found = {"asked": answers.asked, "roles": scores(answers)}
    _print(found, score_lines(found))


def _compare(given: argparse.Namespace) -> None:
    first, second = Answers.read(given.first), Answers.read(given.second)
    found = {
        "first": first.asked,
        "second": second.asked,
        "roles": compared(first, second),
    }
    _print(found, compare_lines(found))


def _print(found: Any, lines: Iterable[str]) -> None:
    print(json.dumps(found, indent=1))
    sys.stdout.flush()
    print("\n".join(lines), file=sys.stderr)


# --- how it is called -----------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    collecting = commands.add_parser("collect", help="situations of recorded campaigns")
    collecting.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    collecting.add_argument("--each", type=whole_from(1), default=EACH, help="of a role, at most")
    collecting.add_argument("--roles", nargs="+", choices=BENCHED, default=BENCHED)
    collecting.add_argument("--note", default="", help="where its kernels are from")
    collecting.add_argument("--out", type=Path, required=True, metavar="FILE.json.gz")
    collecting.set_defaults(do=_collect)

    asking = commands.add_parser("ask", help="asks them, judges kernels, and prints scores")
    asking.add_argument("situations", nargs="+", type=Path, metavar="FILE.json.gz")
    asking.add_argument("--config", type=Path, required=True, help="whose section llm is asked")
    asking.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="of the configuration"
    )
    asking.add_argument("--model", default="", help="a name in llm.models, for all roles")
    asking.add_argument("--temperature", type=_temperature, help="in place of the model's own")
    asking.add_argument("--roles", nargs="+", choices=BENCHED, help="default: all there are")
    asking.add_argument("--backend", help="situations of this backend alone")
    asking.add_argument("--repeats", type=whole_from(1), default=1, help="of every question")
    asking.add_argument(
        "--prompts",
        type=Path,
        metavar="DIR",
        help="templates in place of those of the same name in operators/llm/prompts",
    )
    asking.add_argument(
        "--follow",
        type=whole_from(1),
        default=0,
        metavar="N",
        help="have N experiments of every design written and judged, too",
    )
    asking.add_argument(
        "--task",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="of a task that is not shipped",
    )
    asking.add_argument(
        "--judge",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="compile, check and time the kernels, here, on the situations' backend",
    )
    asking.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="ANSWERS.jsonl",
        help="where answers are kept; what it holds already is not asked again",
    )
    asking.set_defaults(do=_ask)

    scoring = commands.add_parser("scores", help="prints the scores of answers again")
    scoring.add_argument("answers", type=Path, metavar="ANSWERS.jsonl")
    scoring.set_defaults(do=_scores)

    comparing = commands.add_parser("compare", help="two sets of answers, situation by situation")
    comparing.add_argument("first", type=Path, metavar="ANSWERS.jsonl")
    comparing.add_argument("second", type=Path, metavar="ANSWERS.jsonl")
    comparing.set_defaults(do=_compare)
    return parser


def _temperature(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not 0 or more")
    return value


if __name__ == "__main__":
    sys.exit(main())
