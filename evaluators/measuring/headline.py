"""The headline: a kernel beside the fastest of its task's baselines, and sentences on each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluators.evaluation import Beside
from evaluators.tasks.baselines import SEED

Ratio = tuple[float, float, float]
"""Estimate, low, high."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """A kernel beside the fastest of its task's baselines, the naive seed among them.

    name: SEED for the naive seed. among: how many were measured, the naive seed among them.
    """

    name: str
    ratio: Ratio
    among: int

    @property
    def called(self) -> str:
        return "the naive seed" if self.name == SEED else self.name


def headline(over_seed: Ratio, baselines: Mapping[str, Beside]) -> Headline | None:
    """None where no baseline but the naive seed was measured."""
    ratios = {name: one.ratio for name, one in baselines.items() if one.ratio is not None}
    if not ratios:
        return None
    ratios[SEED] = over_seed
    name = min(ratios, key=lambda one: ratios[one][0])
    return Headline(name=name, ratio=ratios[name], among=len(ratios))


def headline_text(found: Headline, over_seed: float) -> str:
    """ "1.42x over torch (the fastest of 3 baselines), 3.10x over the naive seed"."""
    first = f"{times(found.ratio[0])} over {found.called} (the fastest of {found.among} baselines)"
    return first if found.name == SEED else f"{first}, {times(over_seed)} over the naive seed"


def times(ratio: float) -> str:
    """ "1.42x", "0.023x": two digits after the point, or as many digits."""
    return f"{ratio:.2f}x" if ratio >= 0.1 else f"{ratio:.2g}x"


def interval_text(ratio: Ratio) -> str:
    """ "95% interval 1.38 to 1.46"."""
    low, high = (times(one).removesuffix("x") for one in ratio[1:])
    return f"95% interval {low} to {high}"


def baseline_lines(over_seed: Ratio, baselines: Mapping[str, Beside]) -> Iterator[str]:
    """Of each one sentence: what it was beside, or why it was not measured; of the naive seed,
    where another was measured."""
    if headline(over_seed, baselines) is not None:
        yield (
            f"beside the naive seed it is {times(over_seed[0])} as fast "
            f"({interval_text(over_seed)})"
        )
    for name, one in baselines.items():
        if one.ratio is None:
            yield f"baseline {name} {one.refused}"
        else:
            yield (
                f"beside baseline {name} it is {times(one.ratio[0])} as fast "
                f"({interval_text(one.ratio)})"
            )
