"""What a watcher sees of a campaign: rows for a terminal, and one line elsewhere."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.cli.figures import best_text, calls_text, improvement_rows, verdicts
from engine.cli.left import ending_text
from engine.cli.spans import ago, span
from engine.cli.troubles import paused_text
from engine.credit.told import shares_text
from engine.history.campaigns import name_of
from engine.history.follow import Follower
from engine.history.improvements import improvements
from engine.history.revisions_told import demoted_text, withdrawn_text, wrong_text
from engine.stopping.rates import lasting_text
from engine.store.budget import left_of
from engine.store.ratios import ratio_text
from engine.store.replay import Session
from engine.store.store import driven_since

IMPROVEMENTS_SHOWN = 5
FAULT_CHARACTERS = 200
QUIET_S = 30.0
"""After so long without an event that is said."""

Rows = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Stage:
    """doing: what its last session does; over: whether it does nothing more."""

    doing: str
    over: bool = False
    killed: bool = False
    failed: bool = False


FAILED = "failed"
"""How the reason of a session that broke begins."""


def stage(follower: Follower) -> Stage:
    session = follower.session
    match follower.state:
        case "killed":
            return Stage("killed", over=True, killed=True)
        case "ended":
            return _over(follower)
        case "starting":
            return Stage("starting: opening Ray and the devices")
    if session is None or session.search_began_at is None:
        resumed = len(follower.whole.sessions) > 1
        return Stage(
            "starting: " + ("bringing the population back" if resumed else "measuring the seed")
        )
    if session.finished:
        return _over(follower)  # it tells MLflow the rest
    if session.paused_at is not None and not session.search_ended_at:
        return Stage(paused_text(session.paused_at, follower.store.parent))
    return Stage(f"stopping: {_last(follower)}" if session.search_ended_at else "running")


def _last(follower: Follower) -> str:
    """What a session does when its search has ended."""
    if not follower.whole.lacks_final:
        return "distilling findings"
    wanted = follower.whole.campaign.config.get("final", {}).get("seconds", 1)
    return "measuring the best again" if wanted else "deciding which is the best"


def _over(follower: Follower) -> Stage:
    failed = follower.whole.ended.startswith(FAILED)
    return Stage("failed" if failed else "ended", over=True, failed=failed)


def rows(follower: Follower, now: float) -> Rows:
    """now: seconds since 1970."""
    whole = follower.whole
    config, scores = whole.campaign.config, whole.scores
    task, backend = Path(str(config["task"])).name, config["backend"]
    out: Rows = [(name_of(follower.store.parent), _head(follower, now))]
    out.append(("task", f"{task} on {backend}"))
    if stage(follower).failed:
        out.append(("why", whole.ended))
    if not stage(follower).over:
        asked_per_s = follower.per_s(now, asked=True)
        out.append(("left", _left(follower, now, asked_per_s)))
        if whole.forecasts:
            out.append(("forecast", whole.forecasts[-1].text))
    assert follower.history is not None
    if scores.best is None:
        return out  # nothing is measured yet
    steps = list(improvements(follower.history))
    found = f", found {ago(steps[-1].at, now)}" if steps else ""
    out.append(("best", best_text(scores.best) + found))
    out += improvement_rows(steps[-IMPROVEMENTS_SHOWN:])
    out.append(("evaluations", _evaluations(follower, now)))
    session = follower.session
    if session is not None:
        out.append(("device", _devices(follower, session)))
    out += _contests(follower)
    for index, island in sorted(follower.islands.items()):
        best = ratio_text(island.best, timed=follower.whole.timed)
        told = f"best {best} by the search, {island.evaluations} evaluations"
        out.append((f"island {index}", f"{told}, cycle {island.cycle}"))
        if island.shares:
            out.append(("", f"credit: {shares_text(island.shares)}"))
    spending = whole.calls.totals.spending()
    if spending.calls or spending.in_flight or spending.failures:
        out.append(("models", f"{calls_text(spending)}, {spending.in_flight} in flight"))
    out += _troubles(follower, now)
    return out


def line(follower: Follower, now: float) -> str:
    """The most of it, in one line."""
    parts = [_head(follower, now), f"best {best_text(follower.whole.scores.best)}"]
    parts.append(f"evaluations {_evaluations(follower, now)}")
    if follower.whole.faults:
        parts.append(f"{follower.whole.faults} faults")
    if not stage(follower).over:
        parts.append(f"left: {_left(follower, now, follower.per_s(now, asked=True))}")
    return "  ".join(parts)


def _left(follower: Follower, now: float, asked_per_s: float | None) -> str:
    """Of the budgets, and for how long those of calls last."""
    whole = follower.whole
    left = left_of(whole, searching_s=follower.searching_s(now))
    spending = whole.calls.totals.spending()
    lasting = lasting_text(left, asked=whole.scores.asked, calls=spending)
    rests = follower.session is not None and follower.session.paused_at is not None
    return ending_text(left, None if rests else asked_per_s, lasting)


def _head(follower: Follower, now: float) -> str:
    """ "running, 12 min, session 2"; of a campaign that is at rest how long it took."""
    at, sessions = stage(follower), len(follower.whole.sessions)
    elapsed_s = follower.whole.elapsed_s
    state, session = follower.state, follower.session
    if state == "starting":
        elapsed_s = now - driven_since(follower.store)
    elif session is not None and not at.over:
        elapsed_s += max(0.0, now - session.ended_at)
    parts = [at.doing, span(elapsed_s)]
    if sessions > 1:
        parts.append(f"{sessions} sessions")
    assert follower.history is not None
    if at.over or (state == "running" and now - follower.history.at > QUIET_S):
        parts.append(f"last event {ago(follower.history.at, now)}")
    return ", ".join(parts)


def _evaluations(follower: Follower, now: float) -> str:
    scores = follower.whole.scores
    text = f"{scores.by_status.total()} ({verdicts(scores.by_status)})"
    if scores.tuned:
        text += f", {scores.tuned} in idle time"
    per_s = follower.per_s(now)
    return text if per_s is None else f"{text}, {per_s:.2g}/s over the last minute"


def _devices(follower: Follower, session: Session) -> str:
    """How busy, and what the rest of the time was waited for, as the campaign last told."""
    started = session.started
    name = f"{started.devices} × {started.device}"
    assert follower.history is not None
    watched = follower.history.devices.get(started.number)
    if watched is None:
        return name
    total_s = sum(watched.busy_s.values()) + sum(watched.idle_s.values())
    if not total_s:
        return name
    busy = f"{100 * sum(watched.busy_s.values()) / total_s:.0f}% busy"
    return f"{name}, {busy}{_shares(watched.busy_s, total_s, ' with ')}" + _shares(
        watched.idle_s, total_s, "; idle: "
    )


def _shares(seconds: Mapping[str, float], total_s: float, lead: str) -> str:
    """ " with candidates 60%, contests 12%": what takes half a percent, most first."""
    shares = sorted(seconds.items(), key=lambda item: -item[1])
    named = [f"{what} {100 * s / total_s:.0f}%" for what, s in shares if s >= 0.005 * total_s]
    return lead + ", ".join(named) if named else ""


def _contests(follower: Follower) -> Iterator[tuple[str, str]]:
    assert follower.history is not None
    outcomes = Counter(one.outcome for one in follower.history.contests)
    if outcomes:
        told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
        yield "contests", f"{outcomes.total()}: {told}"


def _troubles(follower: Follower, now: float) -> Iterator[tuple[str, str]]:
    whole = follower.whole
    if follower.fault is not None:
        at, fault = follower.fault
        message = " ".join(fault.message.split())[:FAULT_CHARACTERS]
        yield "faults", f"{whole.faults}, the last {ago(at, now)} at {fault.where}: {message}"
    titles = whole.scores.titles
    yield from (("warning", withdrawn_text(one)) for one in whole.scores.withdrawn)
    yield from (("warning", demoted_text(one)) for one in titles.demotions)
    yield from (("warning", wrong_text(one)) for one in titles.wrong)
