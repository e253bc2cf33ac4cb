"""What became of one kernel that a cycle asked for, measured against its Base and the best."""

import math
from collections.abc import Mapping

from engine.credit.meter import Bill
from engine.store.kinds.credit import Earned
from evaluators.measuring.gain import gain
from evaluators.measuring.intervals import Ratio, Spread
from operators.individual import Experiment, Individual, Origin

_WIDTHS = 2 * 1.96
"""Standard errors in a 95% interval."""


def earned(
    made: Individual | None,
    *,
    base: Individual | None,
    known: Mapping[str, Individual],
    best: Individual | None,
    spread: Spread,
    origin: Origin,
    role: str,
    bill: Bill,
    experiment: Experiment | None,
) -> Earned:
    """made: None where there is no new kernel; base: None where it has none; known: whom to look
    up; best: the island's, as the cycle began. role, bill: of the model that wrote it."""
    over_base, over_best = _over(made, base, spread), _over(made, best, spread)
    shown = over_base or over_best
    spent = made.evaluation.seconds if made else {}
    return Earned(
        origin=origin,
        line=line_of(base, known) if base else "",
        role=role,
        model=bill.writer if role else "",
        technique=experiment.technique if experiment else "",
        predicted=experiment.performance if experiment else None,
        gain=math.log(over_base[0]) if over_base else None,
        over_best=math.log(over_best[0]) if over_best else None,
        deviation=math.log(shown[2] / shown[1]) / _WIDTHS if shown else 0.0,
        seconds=bill.seconds + spent.get("compile", 0.0) + spent.get("device", 0.0),
        dollars=bill.dollars,
    )


def line_of(one: Individual, known: Mapping[str, Individual]) -> str:
    """The line of descent: the first ancestor below the naive seed, as far back as is known."""
    met: set[str] = set()
    while one.parents and one.id not in met:
        met.add(one.id)
        above = known.get(one.parents[0])
        if above is None or above.origin == "seed":
            break
        one = above
    return one.id


def _over(made: Individual | None, other: Individual | None, spread: Spread) -> Ratio | None:
    return gain(made.evaluation, other.evaluation, spread) if made and other else None
