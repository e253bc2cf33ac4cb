"""Campaigns of a cluster, a line each: state, best, evaluations, what is left, job, folder."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import IO, Any

from rich.table import Table
from rich.text import Text

from engine.cli.console import console_of
from engine.cli.figures import best_text
from engine.cli.jobs.campaigns import Campaign, State, campaigns_of
from engine.cli.jobs.cluster import Cluster
from engine.cli.left import left_text
from engine.cli.spans import ago

STYLES: dict[State, str] = {
    "running": "green",
    "starting": "yellow",
    "pending": "yellow",
    "killed": "red",
    "failed": "red",
}
COLUMNS = ("name", "state", "best", "evaluations", "left", "began", "job", "folder")
WHOLE = ("state", "evaluations", "began", "job")
RIGHT = ("evaluations", "began")


def list_jobs(cluster: Cluster, stream: IO[str], *, as_json: bool) -> None:
    """Print the campaigns of a cluster, the latest first. Raises UsageError."""
    found = campaigns_of(cluster)
    if as_json:
        print(json.dumps(list(map(_json, found)), indent=2), file=stream)
    elif found:
        _print(found, stream)
    else:
        print(
            f"the Ray cluster at {cluster.address} has no campaign; send one with "
            "'kernel-scientist submit configs/quickstart.yaml'",
            file=stream,
        )


def _print(found: Sequence[Campaign], stream: IO[str]) -> None:
    console, now = console_of(stream), time.time()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in COLUMNS:
        table.add_column(
            name,
            no_wrap=name in WHOLE,
            overflow="fold",
            justify="right" if name in RIGHT else "left",
        )
    for one in found:
        table.add_row(*_cells(one, now))
    console.print(table)
    for one in found:
        if one.why:
            console.print(Text(f"{one.name}: {one.why}"))


def _cells(one: Campaign, now: float) -> Iterator[Text]:
    yield Text(one.name)
    yield Text(one.state, STYLES.get(one.state, ""))
    status = one.status
    yield Text(best_text(status.best) if status else "")
    yield Text(str(status.evaluations) if status else "")
    yield Text(left_text(status.left) if status else "")
    yield Text(ago(one.began_at, now))
    yield Text(one.job.id if one.job else "")
    yield Text(one.place)


def _json(one: Campaign) -> dict[str, Any]:
    status, job = one.status, one.job
    best = status.best if status else None
    return {
        "name": one.name,
        "state": one.state,
        "why": one.why,
        "doing": status.doing if status and one.alive else "",
        "task": status.task if status else None,
        "backend": status.backend if status else None,
        "best": best
        and {
            "id": best.kernel_id,
            "speedup" if best.timed else "cost_ratio": best.speedup,
            "ci95": best.ci95,
        },
        "evaluations": status.evaluations if status else None,
        "left": {name: value for name, value in asdict(status.left).items() if value is not None}
        if status
        else None,
        "job": job and job.id,
        "submitted": bool(job and job.submitted),
        "host": status.host if status else None,
        "folder": one.folder,
        "began_at": _time(one.began_at),
        "last_word_at": _time(status.written_at) if status else None,
    }


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
