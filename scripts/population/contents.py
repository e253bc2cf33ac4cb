"""Contents of what a study runs on: told apart by what they hold, however they are named."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.config_errors import ConfigError
from evaluators.tasks.task_file import load_task
from scripts.population.plan import Plan, Where
from scripts.roles.situations import SituationError, read
from scripts.search.table import TableError

TABLES = ("*.T4.json", "*.T4.json.gz")
"""Of a folder, as scripts/search/reading.py has it."""

Piece = tuple[str, str]
"""As the plan names it, and what it holds: a digest, a task's hash, a situation's id."""


def contents_of(where: Where) -> dict[str, list[str]]:
    """By the plan's names. Raises ConfigError, TaskError."""
    found: dict[str, list[str]] = {}
    for name, digest in _pieces(where):
        found.setdefault(name, []).append(digest)
    return {name: sorted(held) for name, held in found.items()}


def require_unlike(plan: Plan) -> None:
    """Nothing twice in seen or in unseen, and nothing of seen in unseen.

    Raises ConfigError, SituationError, TaskError.
    """
    seen = _each_once("seen", plan.seen)
    unseen = _each_once("unseen", plan.unseen)
    if both := [held for held in unseen if held in seen]:
        name, other = unseen[both[0]], seen[both[0]]
        raise ConfigError(
            f"unseen: {name} holds what trials run on, which is {other} in seen; name what no "
            "trial sees"
        )


def require_unchanged(plan: Plan, before: dict[str, list[str]], folder: Path) -> None:
    """Since the study began. Raises ConfigError, TaskError."""
    for name, held in contents_of(plan.seen).items():
        if before.get(name, held) != held:
            raise ConfigError(
                f"{name} is not what it was when the study in {folder} began; put it back, or name "
                "another folder (--out)"
            )


def _each_once(section: str, where: Where) -> dict[str, str]:
    """What it holds -> as it is named."""
    found: dict[str, str] = {}
    pieces = _situations(where.situations) if where.situations else _pieces(where)
    for name, held in pieces:
        if held in found:
            raise ConfigError(f"{section}: {name} and {found[held]} hold the same; leave one out")
        found[held] = name
    named: dict[str, str] = {}
    for path in (*map(str, where.tables), *where.tasks):
        short = _short(path)
        if short in named:
            raise ConfigError(
                f"{section}: {named[short]} and {path} have the same name in figures, {short}; "
                "rename one"
            )
        named[short] = path
    return found


def _short(path: str) -> str:
    """As a problem or a campaign has it."""
    name = Path(path).name
    return name.removesuffix(".gz").removesuffix(".json").removesuffix(".T4")


def _pieces(where: Where) -> Iterator[Piece]:
    for path in where.tables:
        for file in _files(path):
            yield str(path), _digest(file, TableError)
    for path in where.situations:
        yield str(path), _digest(path, SituationError)
    for task in where.tasks:
        yield task, load_task(task).hash


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for pattern in TABLES for file in path.glob(pattern))


def _digest(file: Path, kind: type[Exception]) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise kind(f"{file} can't be read: {error.strerror}") from None


def _situations(files: Iterable[Path]) -> Iterator[Piece]:
    """One situation may stand in several files."""
    for file in files:
        yield from ((str(file), one.id) for one in read([file]))
