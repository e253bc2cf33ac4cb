"""Campaigns in a folder, a line each: state, best, evaluations, age."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from rich.table import Table
from rich.text import Text

from engine.cli.console import console_of
from engine.cli.figures import best_text
from engine.cli.spans import ago
from engine.cli.usage import UsageError
from engine.history.campaigns import State, name_of, stores_in
from engine.history.glance import Glance, glance
from engine.inbox import is_to_pause
from engine.store.run_folder import STORE
from engine.store.scoreboard import Best
from engine.store.store import StoreError

STYLES: dict[State, str] = {"running": "green", "starting": "yellow", "killed": "red"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A folder whose store says nothing. at: its file's time, in seconds since 1970."""

    run_dir: Path
    why: str
    at: float


Line = Glance | Unreadable


def list_runs(folder: Path, stream: IO[str], *, as_json: bool) -> None:
    """Print the campaigns in a folder, the newest session first. Raises UsageError."""
    if not folder.is_dir():
        raise UsageError(
            f"{folder}: no such folder; name the one that campaigns were run in (runs_dir), or "
            "start a campaign with 'kernel-scientist run configs/quickstart.yaml'"
        )
    own = [folder / STORE] if (folder / STORE).is_file() else []
    lines = sorted(map(_look, own or stores_in(folder)), key=_newness, reverse=True)
    if as_json:
        print(json.dumps(list(map(_json, lines)), indent=2), file=stream)
    elif lines:
        _print(lines, stream)
    else:
        print(
            f"no campaign is in {folder}; start one with 'kernel-scientist run "
            "configs/quickstart.yaml', or name another folder",
            file=stream,
        )


def _look(store: Path) -> Line:
    try:
        return glance(store)
    # A log of a version to come, or one that was tampered with: any part may be missing.
    except (StoreError, OSError, ValueError, KeyError, TypeError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        return Unreadable(run_dir=store.parent, why=why, at=store.stat().st_mtime)


def _newness(line: Line) -> float:
    return line.session_at if isinstance(line, Glance) else line.at


def _print(lines: list[Line], stream: IO[str]) -> None:
    console = console_of(stream)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    paid = any(isinstance(line, Glance) and line.dollars for line in lines)
    for name in ("name", "state", "task", "backend"):
        table.add_column(name, no_wrap=name != "name", overflow="fold")
    table.add_column("best")
    table.add_column("evaluations", justify="right", no_wrap=True)
    if paid:
        table.add_column("dollars", justify="right", no_wrap=True)
    table.add_column("began", justify="right", no_wrap=True)
    table.add_column("last event", justify="right", no_wrap=True)
    now = time.time()
    for line in lines:
        if isinstance(line, Glance):
            table.add_row(*map(_cell, _cells(line, now, paid=paid)))
    console.print(table)
    for line in lines:
        if isinstance(line, Unreadable):
            console.print(Text(f"{name_of(line.run_dir)}: it can't be read: {line.why}"))


def _cell(value: str | Text) -> Text:
    return value if isinstance(value, Text) else Text(value)


def _cells(line: Glance, now: float, *, paid: bool) -> Iterator[str | Text]:
    yield name_of(line.run_dir)
    failed = line.ended.startswith("failed")
    state = "paused" if _is_paused(line) else line.state
    yield Text("failed" if failed else state, "red" if failed else STYLES.get(line.state, ""))
    yield line.task
    yield line.backend
    yield best_text(line.best)
    yield str(line.evaluations)
    if paid:
        yield f"{line.dollars:.2f}" if line.dollars else ""
    yield ago(line.began_at, now)
    yield ago(line.last_at, now)


def _is_paused(line: Glance) -> bool:
    return line.state == "running" and is_to_pause(line.run_dir)


def _figure(best: Best) -> dict[str, float]:
    return {"speedup" if best.timed else "cost_ratio": best.speedup}


def _json(line: Line) -> dict[str, Any]:
    if isinstance(line, Unreadable):
        return {"name": name_of(line.run_dir), "folder": str(line.run_dir), "error": line.why}
    best = line.best
    return {
        "name": name_of(line.run_dir),
        "folder": str(line.run_dir),
        "state": line.state,
        "paused": _is_paused(line),
        "ended": line.ended,
        "task": line.task,
        "backend": line.backend,
        "best": best and {"id": best.kernel_id, **_figure(best), "ci95": best.ci95},
        "evaluations": line.evaluations,
        "dollars": line.dollars,
        "began_at": _time(line.began_at),
        "last_event_at": _time(line.last_at),
    }


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
