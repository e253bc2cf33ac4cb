"""Campaigns made by hand, whose best so far is as told."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.store.events import Event
from engine.store.kinds.contests import FinalMeasurement
from engine.store.kinds.sessions import SearchEnded, SessionFinished
from tests.engine import campaign_log as log


def campaign(
    folder: Path,
    name: str,
    speedups: Sequence[float],
    *,
    final: float | None = None,
    ended: str = "the evaluations are spent",
    **changes: Any,
) -> Path:
    """Its folder. speedups: of one kernel after another, beside the naive seed, a quarter of a
    device second each. final: the last one's, measured at the end in 10 device seconds."""
    events: list[Event] = [*log.opening(log.config(folder, **changes))]
    parent = "seed"
    for number, speedup in enumerate(speedups):
        events += log.step(0, number + 1, f"{name}-{number}", parent, speedup)
        parent = f"{name}-{number}"
    if ended:
        events.append(SearchEnded(number=0, reason=ended))
    if final is not None:
        events.append(
            FinalMeasurement(
                number=0,
                kernel_id=parent,
                speedup=final,
                ci95=(0.97 * final, 1.03 * final),
                ci99=(0.95 * final, 1.05 * final),
                sittings=3,
                device_s=10.0,
            )
        )
    if ended:
        events.append(SessionFinished(number=0, reason=ended))
    log.write(folder / name / "store.sqlite", events)
    return folder / name
