"""Sentences on winners: what the campaigns' own last measurements say, and what sittings said."""

from collections.abc import Iterator, Sequence

from engine.compare.arms import Arm
from engine.compare.campaign import Campaign
from engine.compare.comparison import Comparison
from engine.compare.sentences import factor
from engine.compare.winners import Duel, Remeasured, Winner, has_found, inverse
from evaluators.measuring.intervals import Ratio, product

APART = "they were measured at different times: --remeasure measures them together"


def told_apart(comparison: Comparison) -> Iterator[str]:
    """Of each task, whether the fastest kernel is shown to be faster than the next campaign's."""
    for task, name in comparison.tasks.items():
        found = winners_of(comparison.arms, task)
        on_task = f" on {name}" if len(comparison.tasks) > 1 else ""
        if len(found) < 2:
            yield f"fewer than two campaigns{on_task} found anything faster than the naive seed"
            continue
        yield f"of the kernels found{on_task}, {_between(found[0], found[1])}"


def winners_of(arms: Sequence[Arm], task: str) -> list[Campaign]:
    """Campaigns of a task that found something, the fastest kernel first."""
    found = [one for arm in arms for one in arm.of_task(task) if has_found(one)]
    return sorted(found, key=lambda one: one.best.speedup if one.best else 0.0, reverse=True)


def told_together(made: Remeasured) -> Iterator[str]:
    """What was shown by sittings, the verdict first."""
    names = {one.kernel_id: _names(one) for one in made.winners}
    right = sorted(made.over_seed, key=lambda one: made.over_seed[one][0], reverse=True)
    if len(right) > 1:
        yield _champion(made, right[0], right[1:])
    elif len(made.winners) == 1:
        yield f"there is one kernel to measure on {made.task}, that of {_names(made.winners[0])}"
    for identity, reason in made.wrong.items():
        yield f"the kernel of {names[identity]} failed now: {reason}"
    if made.busy:
        yield made.busy


def _duel(duel: Duel) -> str:
    """ "a's is 1.12x as fast (95% interval 1.05x to 1.19x) as b's", the faster first."""
    first, second, ratio = duel.first, duel.second, duel.ratio
    if ratio[0] < 1:
        first, second, ratio = second, first, inverse(ratio)
    shown = "" if duel.shown else ": not shown to be faster"
    return f"{_names(first)}'s is {_ratio_text(ratio)} {_names(second)}'s{shown}"


def _champion(made: Remeasured, first: str, others: Sequence[str]) -> str:
    mine = [one for one in made.duels if first in (one.first.kernel_id, one.second.kernel_id)]
    beaten = sum(one.shown and (one.ratio[0] > 1) == (one.first.kernel_id == first) for one in mine)
    which = next(one for one in made.winners if one.kernel_id == first)
    next_one = next(one for one in mine if one.of(first, others[0]))
    held = f"measured together on {made.task} in {made.sittings} sittings ({made.seconds:.0f} s)"
    if beaten == len(mine):
        more = "" if len(mine) == 1 else f", and shown to be faster than all {len(mine)} others"
        return f"{held}, {_names(which)}'s kernel is the fastest: {_duel(next_one)}{more}"
    return f"{held}, no kernel is shown to be the fastest: {_duel(next_one)}"


def _between(first: Campaign, second: Campaign) -> str:
    """By their final measurements, each of which holds a later one of the same kernel."""
    one, other = first.best, second.best
    assert one is not None and other is not None  # winners_of() chose them
    if not (one.final and other.final and one.ci95 and other.ci95):
        return (
            f"{first.name}'s seems the fastest, by the search alone; {APART}"
            if not one.final
            else f"{first.name}'s seems the fastest, and others were not measured at their end; "
            f"{APART}"
        )
    other_way = inverse((other.speedup, *other.ci95))
    ratio = product((one.speedup, *one.ci95), other_way)
    whose = f"{first.name}'s is {_ratio_text(ratio)} {second.name}'s"
    verdict = "faster" if ratio[1] > 1 else "not shown to be faster"
    return f"{whose}, so {verdict} by their final measurements; {APART}"


def _ratio_text(ratio: Ratio) -> str:
    estimate, low, high = ratio
    return f"{factor(estimate)} as fast (95% interval {factor(low)} to {factor(high)}) as"


def _names(winner: Winner) -> str:
    return " and ".join(winner.names)
