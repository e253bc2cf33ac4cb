"""The steps by which a campaign's best became faster, for a person who looks on."""

from collections.abc import Iterator

from engine.history.history import History
from engine.snapshot import Improvement
from engine.store.events import Drafted
from engine.store.lineage import what_made
from engine.store.scoreboard import Best


def improvements(history: History) -> Iterator[Improvement]:
    """All so far, in order."""
    before: Best | None = None
    for moment in history.trajectory.moments:
        drafted = history.replay.first_drafts.get(moment.best.kernel_id) if moment.best else None
        step = improvement(before, moment.best, drafted, at=moment.at)
        if step is not None:
            yield step
        before = moment.best or before


def improvement(
    before: Best | None, now: Best | None, drafted: Drafted | None, *, at: float
) -> Improvement | None:
    """None where the best is the same kernel, or slower than was thought, or the first of all.

    drafted: of the new one. at: seconds since 1970.
    """
    if before is None or now is None or now.kernel_id == before.kernel_id:
        return None
    if now.speedup <= before.speedup:
        return None
    return Improvement(
        at=at,
        kernel_id=now.kernel_id,
        technique=what_made(drafted) if drafted else "",
        before=before.speedup,
        after=now.speedup,
        contest=now.sittings > 0,
        timed=now.timed,
    )
