"""The kernel that a command is to look at: one of a campaign, or a file that is in none."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.cli.usage import UsageError
from engine.config import CampaignConfig, parse_config
from engine.history.campaigns import name_of, store_of
from engine.store.kept_task import find_task
from engine.store.replay import Replay, replay
from engine.store.run_folder import STORE
from engine.store.store import read_events
from evaluators.evaluation import Evaluation, Rejected
from evaluators.kernel.seeds import naive_of
from evaluators.kernel.source import kernel_id
from evaluators.spelling import did_you_mean
from evaluators.tasks.task_file import load_task
from evaluators.text_file import read_text

BEST, SEED = "best", "seed"
SHORT = 12
"""Characters of an id that a person reads."""
NAMED = 5
"""Candidates that a complaint names at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The campaign that a kernel is of. tag: its name in MLflow."""

    run_dir: Path
    config: CampaignConfig
    tag: str
    whole: Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A kernel with its task and backend. evaluation: the campaign's, None where there is none."""

    kernel_id: str
    source: str
    task: str
    backend: str
    name: str
    evaluation: Evaluation | None = None
    home: Home | None = None


def subject_of(target: Path, kernel: str | None, task: str | None, backend: str | None) -> Subject:
    """target: a campaign's folder or store, or a kernel file, which needs a task and a backend.

    Raises UsageError, StoreError, ConfigError, TaskError.
    """
    if target.is_dir() or target.name == STORE:
        if task or backend:
            raise UsageError(f"{target} has a task and a backend of its own: leave out both")
        return _recorded(target, kernel or BEST)
    if kernel is not None:
        raise UsageError(f"{target} is no campaign's folder: leave out {kernel!r}")
    if not task or not backend:
        raise UsageError(
            f"{target} is no campaign's folder; name one, or for a kernel file its --task and "
            "--backend"
        )
    source = _read(target)
    try:
        identity = kernel_id(source)
    except Rejected as rejected:
        raise UsageError(f"{target}: {rejected}") from None
    return Subject(kernel_id=identity, source=source, task=task, backend=backend, name=str(target))


def _recorded(run: Path, kernel: str) -> Subject:
    store = store_of(run)
    whole = replay(store)
    stored = {
        **whole.campaign.config,
        "runs_dir": str(store.resolve().parents[1]),
        "task": find_task(whole, store.parent),
    }
    config = parse_config(stored, where=str(store))
    identity = find_kernel(whole, kernel, where=store.parent)
    drafted = whole.first_drafts.get(identity)
    seed = naive_of(load_task(config.task), config.backend)
    source = drafted.candidate.source if drafted else seed
    first = next(read_events(store))
    home = Home(
        run_dir=store.parent,
        config=config,
        tag=f"{store.resolve().parent.name}/{int(first.at * 1000)}",
        whole=whole,
    )
    return Subject(
        kernel_id=identity,
        source=source,
        task=config.task,
        backend=config.backend,
        name=f"{identity[:SHORT]} of {name_of(store.parent)}",
        evaluation=whole.scores.evaluations.get(identity),
        home=home,
    )


def find_kernel(whole: Replay, kernel: str, *, where: Path) -> str:
    """The id that begins so, or that "best" or "seed" stands for. Raises UsageError."""
    best = whole.scores.best
    if kernel == SEED:
        return whole.campaign.baseline_id
    if kernel == BEST:
        if best is None:
            raise UsageError(f"{where}: nothing is measured yet, so there is no best")
        return best.kernel_id
    known = [*whole.first_drafts]
    found = [one for one in known if one.startswith(kernel.lower())]
    if len(found) == 1 or kernel in found:
        return kernel if kernel in found else found[0]
    if found:
        raise UsageError(
            f"{where}: {len(found)} kernels begin with {kernel!r}, {_some(found)}: name one of "
            "them by more of its id"
        )
    guess = did_you_mean(kernel, [BEST, SEED, *(one[: len(kernel)] for one in known)])
    fastest = ([best.kernel_id] if best else []) + whole.scores.ranked(NAMED - 1)
    raise UsageError(
        f"{where}: no kernel begins with {kernel!r}{guess}; the fastest are {_some(fastest)}; "
        "'best' and 'seed' are names, too"
    )


def _some(kernels: Sequence[str]) -> str:
    named = ", ".join(one[:SHORT] for one in kernels[:NAMED])
    return named + (" and others" if len(kernels) > NAMED else "")


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except OSError as error:
        reason = error.strerror
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    raise UsageError(
        f"{path}: it can't be read ({reason}); name a campaign's folder, or a kernel file (.hip)"
    )
