"""A kernel or an idea of a person, looked at here, then put into a campaign's inbox."""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from engine.cli.evaluate import verdict_lines
from engine.cli.look.subject import BEST, SHORT, find_kernel
from engine.cli.steer.outcome import await_outcome
from engine.cli.usage import FAILED, OK, UsageError
from engine.commands import resume_command, shown
from engine.config import CampaignConfig, parse_config
from engine.history.brought import Brought
from engine.history.campaigns import searches_no_more, state_of, store_of
from engine.inbox import Entry, put, waiting
from engine.stopping.targets import reached_by
from engine.store.budget import spent
from engine.store.kept_task import find_task
from engine.store.kinds.steering import Contribution
from engine.store.ratios import standing
from engine.store.replay import Replay, replay
from engine.store.store import is_driven
from evaluators.evaluation import Rejected
from evaluators.kernel.fit import check_fit
from evaluators.kernel.normalise import check_readable
from evaluators.kernel.source import kernel_id
from evaluators.lined_yaml import YamlError, load
from evaluators.spelling import printable
from evaluators.tasks.task_file import load_task
from evaluators.text_file import read_text

IDEA_SUFFIX = ".md"
FENCE = "---"
MOST_CHARACTERS = 8000
"""Of an idea: prompts have room for no more."""


def inject_file(arguments: Namespace, stream: IO[str]) -> int:
    """Returns the exit code. Raises UsageError, StoreError, ConfigError, TaskError."""
    store = store_of(arguments.run_dir)
    whole, run_dir = replay(store), store.parent
    stored = {**whole.campaign.config, "task": find_task(whole, store.parent)}
    config = parse_config(stored, where=str(store))
    path: Path = arguments.file
    text = _read(path)
    if path.suffix.lower() == IDEA_SUFFIX:
        entry = _idea(path, text, whole, config, run_dir, arguments.island)
    else:
        entry = _kernel(path, text, config, arguments.island)
    if known := _known(entry, whole, run_dir):
        print(f"{printable(str(path))}: nothing was put in, as {known}", file=stream)
        return FAILED
    name = put(run_dir, entry)
    where = f"lies in the inbox of {shown(run_dir)}"
    print(f"{printable(str(path))} {where}; {_when(whole, run_dir)}", file=stream)
    if not arguments.wait:
        return OK
    if not is_driven(store):
        print("nobody measures it now, so there is nothing to wait for", file=stream)
        return FAILED
    found = await_outcome(store, name)
    print("\n".join(_told(found, run_dir)), file=stream)
    passed = found is not None and found.evaluation is not None and found.evaluation.passed
    return OK if passed else FAILED


def _told(found: Brought | None, run_dir: Path) -> Iterator[str]:
    """What became of it, in lines."""
    if found is None:
        yield f"the campaign ended before it was measured; {resume_command(run_dir)} goes on"
    elif found.evaluation is None:
        yield found.why
    else:
        yield f"kernel {found.kernel_id}"
        yield from verdict_lines(found.evaluation)


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except OSError as error:
        reason = error.strerror
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    raise UsageError(f"{path}: it can't be read ({reason}); name a kernel file, or an idea (.md)")


def _kernel(path: Path, text: str, config: CampaignConfig, island: int | None) -> Entry:
    try:
        check_fit(text, load_task(config.task), config.backend)
    except Rejected as rejected:
        raise UsageError(
            f"{path}: no kernel for the task {Path(config.task).name}: {rejected.reason}"
        ) from None
    _check_island(island, config, what="kernel")
    return Entry(what="kernel", name=printable(path.name), text=text, island=island)


def _idea(
    path: Path,
    text: str,
    whole: Replay,
    config: CampaignConfig,
    run_dir: Path,
    island: int | None,
) -> Entry:
    if not config.takers("idea"):
        raise UsageError(
            f"{path}: no island of this campaign asks a model (operators.kind: llm), so nobody can "
            "write a kernel for an idea; inject a kernel file"
        )
    _check_island(island, config, what="idea")
    try:
        check_readable(text)
    except Rejected as rejected:
        raise UsageError(f"{path}: {rejected.reason}") from None
    base, words = _front_matter(path, text)
    if not words:
        raise UsageError(f"{path}: it says nothing; write down what to try")
    if len(words) > MOST_CHARACTERS:
        raise UsageError(
            f"{path}: it has {len(words)} characters, and an idea {MOST_CHARACTERS} at most; say "
            "less"
        )
    base_id = find_kernel(whole, base, where=run_dir) if base not in ("", BEST) else ""
    evaluation = whole.scores.evaluations.get(base_id)
    if base_id and (evaluation is None or not evaluation.passed):
        raise UsageError(f"{path}: kernel {base_id[:SHORT]} did not pass, so it can be no base")
    name = printable(path.name)
    return Entry(what="idea", name=name, text=words, island=island, base_id=base_id)


def _check_island(island: int | None, config: CampaignConfig, *, what: Contribution) -> None:
    takers = config.takers(what)
    if island is None or island in takers:
        return
    that = " that ask a model" if what == "idea" else ""
    raise UsageError(
        f"--island {island}: it can't take this {what}; the campaign's islands{that} are "
        f"{', '.join(map(str, takers))}"
    )


def _front_matter(path: Path, text: str) -> tuple[str, str]:
    """The base that it names ("" where it names none), and the idea itself."""
    lines = text.strip().splitlines()
    if not lines or lines[0].strip() != FENCE:
        return "", text.strip()
    end = next((n for n, line in enumerate(lines) if n and line.strip() == FENCE), None)
    if end is None:
        raise UsageError(f"{path}: its front matter is not closed by a line {FENCE}")
    try:
        said = load("\n".join(lines[1:end])) or {}
    except YamlError as error:
        raise UsageError(f"{path}, line {error.line + 1}: {error.reason}") from None
    if not isinstance(said, dict) or set(said) - {"base"}:
        raise UsageError(f"{path}: its front matter holds base alone, as in 'base: 84753cd7'")
    return str(said.get("base", "")).strip(), "\n".join(lines[end + 1 :]).strip()


def _known(entry: Entry, whole: Replay, run_dir: Path) -> str:
    """Where the campaign has the same already, in a clause; "" where it has not."""
    lie = [(one.what, one.text) for _, one in waiting(run_dir) if one is not None]
    if any(_same(entry, *one) for one in lie):
        return f"the inbox holds this {entry.what} already; {_when(whole, run_dir)}"
    given = any(_same(entry, one.what, one.text) for one in whole.injected)
    if entry.what == "idea":
        return "the campaign was given this idea before" if given else ""
    identity = kernel_id(entry.text)
    evaluation = whole.scores.evaluations.get(identity)
    if evaluation is not None:
        found = f", {standing(evaluation)}" if evaluation.over_seed else ""
        return f"this is kernel {identity[:SHORT]} of the campaign ({evaluation.status}{found})"
    if identity in whole.first_drafts:
        return f"this is kernel {identity[:SHORT]} of the campaign, which is not measured yet"
    return "the campaign was given this kernel before" if given else ""


def _same(entry: Entry, what: Contribution, text: str) -> bool:
    if what != entry.what:
        return False
    return text == entry.text if what == "idea" else kernel_id(text) == kernel_id(entry.text)


def _when(whole: Replay, run_dir: Path) -> str:
    """When it is taken, in a clause."""
    last = whole.sessions[-1] if whole.sessions else None
    resume = resume_command(run_dir, spent(whole, whole.budgets) or reached_by(whole))
    store = store_of(run_dir)
    if not is_driven(store):
        return f"the campaign does not run, and takes it when it goes on: {resume}"
    if searches_no_more(whole, store):
        return f"the campaign ends just now, and takes it when it goes on: {resume}"
    if last is None or not last.search_began_at or state_of(whole, store) == "starting":
        return "the campaign starts just now, and takes it once it searches"
    if last.paused_at is not None:
        return f"the campaign is paused, and measures it when it goes on: {resume}"
    return "the campaign takes it within a second"
