"""A campaign in one line, for a list of many: the parts of its log that this line needs."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.history.campaigns import State, state_by
from engine.store.events import EpochStarted, Evaluated, from_row
from engine.store.kinds.calls import CallFailed, CallReplied, CallReserved
from engine.store.kinds.contests import Contested, FinalMeasurement
from engine.store.kinds.revisions import AnchorWithdrawn
from engine.store.kinds.sessions import CampaignStarted, SessionFinished, SessionStarted
from engine.store.scoreboard import Best, Scoreboard
from engine.store.spending import SpendingTotals
from engine.store.store import StoreError, reading
from evaluators.tasks.baselines import SEED

OF_TITLES = (SessionStarted, EpochStarted, AnchorWithdrawn, Contested, FinalMeasurement)
"""Beside some verdicts, what the best follows from."""

OF_CALLS = (SessionStarted, CallReserved, CallReplied, CallFailed)
"""What the dollars follow from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """evaluations: verdicts on kernels, those of idle time and the naive seed among them.

    *_at: seconds since 1970: the campaign's start, its last session's and its last event.
    ended: why the last session did; empty where it did not. dollars: for models.
    """

    run_dir: Path
    task: str
    backend: str
    state: State
    best: Best | None
    evaluations: int
    dollars: float
    began_at: float
    session_at: float
    last_at: float
    ended: str


def glance(store: Path) -> Glance:
    """The same as a replay tells, in a fraction of its time. Raises StoreError."""
    with reading(store) as connection:
        return _glance(store, connection)


def _glance(store: Path, connection: sqlite3.Connection) -> Glance:
    first = connection.execute("SELECT at, kind, body FROM events ORDER BY seq LIMIT 1").fetchone()
    campaign = from_row(*first[1:]) if first else None
    if not isinstance(campaign, CampaignStarted):
        raise StoreError(f"{store}: this store holds no campaign; start a new one")
    last = "SELECT key, at FROM events WHERE kind = ? ORDER BY seq DESC LIMIT 1"
    session = connection.execute(last, (SessionStarted.kind,)).fetchone()
    finished_at, ended = _finished(connection, session[0]) if session else (None, "")
    (last_at,) = connection.execute("SELECT at FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    summary = _summary(store, written_after=finished_at)
    return Glance(
        run_dir=store.parent,
        task=Path(str(campaign.config["task"])).name,
        backend=str(campaign.config["backend"]),
        state=state_by(
            store, last_at=last_at if session else None, finished=finished_at is not None
        ),
        best=_best_of(summary) if summary else _best(connection),
        evaluations=_evaluations(connection),
        dollars=_dollars_of(summary) if summary else _dollars(connection, campaign),
        began_at=first[0],
        session_at=session[1] if session else first[0],
        last_at=last_at,
        ended=ended,
    )


def _finished(connection: sqlite3.Connection, number: str) -> tuple[float | None, str]:
    """When the session of that number ended in order, and why."""
    row = connection.execute(
        "SELECT at, json_extract(body, '$.reason') FROM events WHERE kind = ? AND key = ?",
        (SessionFinished.kind, number),
    ).fetchone()
    return (None, "") if row is None else (row[0], str(row[1]))


def _summary(store: Path, *, written_after: float | None) -> dict[str, Any] | None:
    """What the session that ended then left; None: it left none, or it is of an earlier one."""
    path = store.with_name("summary.json")
    try:
        if written_after is None or path.stat().st_mtime < written_after:
            return None
        summary = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return summary if isinstance(summary, dict) and "best" in summary else None


def _best_of(summary: dict[str, Any]) -> Best | None:
    best = summary["best"]
    if best is None:
        return None
    ci95 = tuple(best["ci95"]) if best["ci95"] else None
    timed = "speedup" in best
    over_seed = best["speedup" if timed else "cost_ratio"]
    fastest = best.get("fastest")
    over = (fastest["name"], fastest["ratio"][0]) if fastest else None
    return Best(
        kernel_id=best["id"],
        speedup=over_seed,
        ci95=ci95,
        timed=timed,
        over=None if over is None or over[0] == SEED else over,
    )


def _dollars_of(summary: dict[str, Any]) -> float:
    return float((summary.get("calls") or {}).get("dollars", 0.0))


def _evaluations(connection: sqlite3.Connection) -> int:
    """Kernels with a verdict; further ones of the same kernel count no more."""
    query = "SELECT count(*) FROM events WHERE kind = ? AND key LIKE '%/0'"
    (count,) = connection.execute(query, (Evaluated.kind,)).fetchone()
    return int(count)


def _best(connection: sqlite3.Connection) -> Best | None:
    """By the scoreboard itself, which is told nothing but what titles depend on."""
    scores = Scoreboard()
    for kind, body in _ordered(connection, OF_TITLES, _verdicts(connection)):
        scores.apply(from_row(kind, body))
    return scores.best


def _verdicts(connection: sqlite3.Connection) -> Iterator[int]:
    """The seq numbers of verdicts that made a best without a contest, or that were revised."""
    query = "SELECT seq FROM events WHERE kind = ? AND instr(body, '\"verified\":true')"
    yield from (seq for (seq,) in connection.execute(query, (Evaluated.kind,)))
    query = "SELECT key FROM events WHERE kind = ? AND key NOT LIKE '%/0'"
    revised = {str(key).rpartition("/")[0] for (key,) in connection.execute(query, ("evaluated",))}
    query = "SELECT seq FROM events WHERE kind = ? AND key >= ? AND key < ?"
    for kernel_id in revised:
        span = (Evaluated.kind, f"{kernel_id}/", f"{kernel_id}0")  # 0 comes after /
        yield from (seq for (seq,) in connection.execute(query, span))


def _dollars(connection: sqlite3.Connection, campaign: CampaignStarted) -> float:
    llm = campaign.config.get("llm") or {}
    prices = [value for model in (llm.get("models") or {}).values() for value in _prices(model)]
    if not any(prices):
        return 0.0
    totals = SpendingTotals()
    for kind, body in _ordered(connection, OF_CALLS):
        event = from_row(kind, body)
        if isinstance(event, SessionStarted):
            totals.write_off()
        elif isinstance(event, CallReserved | CallReplied | CallFailed):
            totals.take(event)
    return totals.spending().dollars


def _prices(model: dict[str, Any]) -> Iterator[float]:
    yield from (value or 0.0 for name, value in model.items() if name.startswith("dollars"))


def _ordered(
    connection: sqlite3.Connection, kinds: tuple[Any, ...], more: Iterator[int] | None = None
) -> Iterator[tuple[str, str]]:
    """Kind and body of all events of these kinds, and of those with the seq numbers in more."""
    names = [kind.kind for kind in kinds]
    query = f"SELECT seq FROM events WHERE kind IN ({', '.join('?' * len(names))})"
    seqs = {seq for (seq,) in connection.execute(query, names)} | set(more or ())
    for seq in sorted(seqs):
        yield connection.execute("SELECT kind, body FROM events WHERE seq = ?", (seq,)).fetchone()
