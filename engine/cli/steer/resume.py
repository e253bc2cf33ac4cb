"""What `resume` is told: a campaign's folder, or a copy of its store, and what is to change."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.cli.usage import UsageError, budget_change


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """changes: by section, keys and values. words: those of a person."""

    run_dir: Path
    changes: Mapping[str, Mapping[str, Any]]
    words: Sequence[str] = ()


def add_resume_options(resume: ArgumentParser) -> None:
    resume.add_argument(
        "run_dir",
        type=Path,
        nargs="?",
        metavar="RUN",
        help="the campaign's folder, such as runs/quickstart (with --from: the one that is made; "
        "default: the one that the campaign had)",
    )
    resume.add_argument(
        "budgets",
        nargs="*",
        default=[],
        metavar="KEY=VALUE",
        help="what is to change: a budget, as in evaluations=2000, an end, as in stop.speedup=30, "
        "or a place, as in ray.address=auto, snapshots.folder=/shared or llm.base_url=http://...",
    )
    resume.add_argument(
        "--from",
        dest="copy",
        type=Path,
        metavar="COPY",
        help="make the folder of a copy of the store first, as snapshots.folder holds them: where "
        "the node that ran it is lost",
    )


def resumption(arguments: Namespace) -> Resumption:
    """Where a copy is named, its campaign's folder is made, and what is lost is told on stderr.

    Raises UsageError, ConfigError, StoreError.
    """
    run_dir, words = arguments.run_dir, list(arguments.budgets)
    if arguments.copy is not None and run_dir is not None and "=" in str(run_dir):
        run_dir, words = None, [str(run_dir), *words]
    changes: dict[str, dict[str, Any]] = {}
    for section, key, value in map(budget_change, words):
        changes.setdefault(section, {})[key] = value
    if arguments.copy is not None:
        run_dir = _restored(arguments.copy, run_dir, changes)
    elif run_dir is None:
        raise UsageError(
            "resume: name the campaign's folder, such as runs/quickstart, or a copy of its store "
            "by --from"
        )
    return Resumption(run_dir=run_dir, changes=changes, words=words)


def _restored(copy: Path, run_dir: Path | None, changes: dict[str, dict[str, Any]]) -> Path:
    from engine.restoring import restore

    made = restore(copy, run_dir)
    print(f"kernel-scientist: {made.says}", file=sys.stderr)
    for section, keys in made.places.items():
        changes[section] = {**keys, **changes.get(section, {})}
    return made.run_dir
