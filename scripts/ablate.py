"""Compares ways to search at equal evaluations, over tasks and seeds; prints JSON or a table.

python -m scripts.ablate --arms catalog,random,best-of-n,llm --tasks sgemm,softmax,sum_reduction \\
    --seeds 5 --evaluations 60 --runs-dir runs/ablation --output ablation.json

Every arm is a configuration (scripts/ablation/arms.py) and runs as campaigns of its own in
RUNS_DIR/ARM-TASK-SEED, one after the other, or with --cores as many at once as the machine has
such sets of cores. The arms take turns at being first, so that none always meets the cooler
machine. What was interrupted goes on where it was by the same command, also with more seeds, and
with folders that were copied from other machines of the same kind. Arms that ask
models need --llm FILE; without it they stand in the result without a figure. In the end all
campaigns are compared as `kernel-scientist compare RUNS_DIR` does it, the first arm being the
reference; --table FILE prints the table of a result that is there.
"""

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.compare.campaign import CompareError
from engine.compare.folders import read_folders
from engine.compare.plot import draw, require_suffix
from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from engine.ending import CampaignFailed, kept_interrupts
from engine.store.store import StoreError
from evaluators.tasks.task import TaskError
from evaluators.tasks.task_file import load_task
from scripts.ablation.arms import ARMS, NO_MODEL, Arm, Budget, configuration, read_llm
from scripts.ablation.campaigns import Run, finish, in_a_process
from scripts.ablation.figures import compared, figures, table
from scripts.ablation.side_by_side import core_sets, side_by_side
from scripts.lib.arguments import whole_from

USUAL = ("catalog", "random", "best-of-n", "llm")


def main(argv: Sequence[str] | None = None, *, run: Run = in_a_process) -> int:
    """run: how a campaign is run; the tests give one without Ray."""
    asked = _parser().parse_args(argv)
    try:
        if asked.table is not None:
            print(_table(asked.table), end="")
            return 0
        _require_outputs(asked)
        with kept_interrupts():
            result = _ablate(asked, run)
    except KeyboardInterrupt:
        print("ablate: interrupted; the same command goes on where this ended", file=sys.stderr)
        return 130
    except (CampaignFailed, CompareError, ConfigError, OSError, StoreError, TaskError) as error:
        print(f"ablate: {error}", file=sys.stderr)
        return 2
    text = json.dumps(result, indent=1) + "\n"
    print(text, end="")
    if asked.output is not None:
        asked.output.write_text(text)
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="ablate", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("--arms", type=_arms, default=USUAL, help=f"of {', '.join(ARMS)}")
    parser.add_argument("--tasks", type=_words, default=("sgemm", "softmax", "sum_reduction"))
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--seeds", type=whole_from(1), default=5)
    parser.add_argument("--first-seed", type=int, default=0, help="to share seeds over machines")
    parser.add_argument("--evaluations", type=whole_from(1), default=60, help="of each campaign")
    parser.add_argument("--final-seconds", type=float, default=10.0, help="see final.seconds")
    parser.add_argument(
        "--cores", type=whole_from(1), help="of each campaign (one has all of them)"
    )
    parser.add_argument("--llm", type=Path, metavar="FILE", help="a YAML file with a section llm")
    parser.add_argument("--runs-dir", type=Path, default=Path("runs/ablation"))
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write the JSON there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the best so far there")
    parser.add_argument("--table", type=Path, metavar="FILE", help="an --output to print as table")
    return parser


def _table(file: Path) -> str:
    """Raises ConfigError, OSError."""
    try:
        return table(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ConfigError(f"--table {file}: no such file") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigError(f"--table {file}: this is no --output of this program") from None


def _require_outputs(asked: Namespace) -> None:
    """Before the first campaign. Raises ConfigError, CompareError."""
    if asked.plot is not None:
        require_suffix(asked.plot)
    for option, file in (("--output", asked.output), ("--plot", asked.plot)):
        if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
            raise ConfigError(f"{option} {file}: name a file in a folder that is there")


def _ablate(asked: Namespace, run: Run) -> dict[str, Any]:
    llm = read_llm(asked.llm) if asked.llm is not None else None
    runnable = {name: ARMS[name] for name in asked.arms if llm or not ARMS[name].asks_models}
    if len(runnable) < 2:
        raise ConfigError("--arms: name two that can be run; those of models need --llm FILE")
    plan = list(_plan(asked, runnable, llm))
    arm_of = {config.name: name for name, config in plan}
    folders = _folders([config for _, config in plan], run, asked.cores)
    campaigns = sorted(read_folders(folders), key=lambda one: asked.arms.index(arm_of[one.name]))
    comparison = compared(campaigns, arm_of)
    if asked.plot is not None:
        draw(comparison, asked.plot)
    found = figures(comparison)
    return {
        "asked": {
            "tasks": [load_task(task).name for task in asked.tasks],
            "backend": asked.backend,
            "seeds": list(_seeds(asked)),
            "evaluations": asked.evaluations,
        },
        **found,
        "arms": {name: _told(name, found["arms"], runnable) for name in asked.arms},
    }


def _plan(
    asked: Namespace, arms: Mapping[str, Arm], llm: Mapping[str, Any] | None
) -> Iterator[tuple[str, CampaignConfig]]:
    """(arm, campaign) in order: seed by seed and task by task, arms first in turn."""
    budget = Budget(
        backend=asked.backend, evaluations=asked.evaluations, final_s=asked.final_seconds
    )
    for seed in _seeds(asked):
        for number, task in enumerate(asked.tasks):
            first = (seed + number) % len(arms)
            names = [*arms][first:] + [*arms][:first]
            for name in names:
                run_dir = asked.runs_dir.resolve() / f"{name}-{load_task(task).name}-{seed}"
                yield (
                    name,
                    configuration(
                        arms[name], task=task, seed=seed, budget=budget, llm=llm, run_dir=run_dir
                    ),
                )


def _folders(configs: Sequence[CampaignConfig], run: Run, cores: int | None) -> list[Path]:
    places = [(config, run, f"{n} of {len(configs)}") for n, config in enumerate(configs, 1)]
    if cores is None:
        return [_finished(*place) for place in places]
    return side_by_side(lambda place: _finished(*place), places, core_sets(cores))


def _finished(config: CampaignConfig, run: Run, place: str) -> Path:
    print(f"{place}: {config.name}", file=sys.stderr, flush=True)
    return finish(config, run)


def _told(name: str, found: Mapping[str, Any], runnable: Mapping[str, Arm]) -> dict[str, Any]:
    about = {"about": ARMS[name].about}
    if name not in runnable:
        return {**about, "not_run": NO_MODEL}
    return {**about, **found[name]}


def _seeds(asked: Namespace) -> range:
    return range(asked.first_seed, asked.first_seed + asked.seeds)


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.split(",")))


def _arms(text: str) -> tuple[str, ...]:
    names = _words(text)
    if unknown := [name for name in names if name not in ARMS]:
        raise ArgumentTypeError(f"{unknown[0]!r} is no arm; arms are {', '.join(ARMS)}")
    return names


if __name__ == "__main__":
    sys.exit(main())
