"""A choice among arms that follows what they gained for what they cost: a Gamma-Poisson bandit."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

PRIOR = 2.0
"""Gains that an arm is believed to have had beforehand, at the rate of all arms together."""
SHARPNESS = 2.0
"""The power of its rate with which an arm is drawn more often."""
SAMPLES = 64
"""Of the posterior, over which the chances of a draw are averaged."""

Costs = tuple[float, ...]
"""What was spent, by kind; the kinds have units of their own."""


@dataclass(slots=True)
class _Sums:
    gain: float = 0.0
    squares: float = 0.0
    costs: Costs = ()


class Bandit:
    """Arms with weights, and discounted sums of what each gained and cost.

    An arm's rate is how many gains it had over how many it would have had at the rate of all
    arms, by its share of what was spent (the mean of its shares in each kind of cost). Both
    counts begin with PRIOR (the Gamma-Poisson shrinker of DuMouchel, The American Statistician 53,
    1999): the posterior of a rate is Gamma, its mean 1 where nothing is known. How many gains
    unequal ones amount to is their effective number, (sum)^2 / sum of squares over all arms.
    A draw samples the rates (Thompson, Biometrika 25, 1933), and takes an arm with a chance in
    proportion to its weight times its rate to the power SHARPNESS, so that weights alone decide at
    first. A part of the draws, the floor, follows the weights for ever.
    """

    def __init__(self, weights: Mapping[str, float], *, floor: float, half_life: float) -> None:
        """floor: 0..1; half_life: in calls of fade(). Arms with weight 0 are never drawn."""
        self._weights = {arm: weight for arm, weight in weights.items() if weight > 0}
        self._floor = floor
        self._fading = 0.5 ** (1 / half_life)
        self._sums: dict[str, _Sums] = {}

    @property
    def weights(self) -> Mapping[str, float]:
        return self._weights

    def fade(self) -> None:
        """What was seen counts a little less from now on."""
        for sums in self._sums.values():
            sums.gain *= self._fading
            sums.squares *= self._fading
            sums.costs = tuple(cost * self._fading for cost in sums.costs)

    def take(self, arm: str, gain: float, costs: Costs) -> None:
        """gain: 0 where it failed."""
        sums = self._sums.setdefault(arm, _Sums())
        sums.gain += gain
        sums.squares += gain**2
        before = sums.costs or (0.0,) * len(costs)
        sums.costs = tuple(a + b for a, b in zip(before, costs, strict=True))

    def rates(self) -> Mapping[str, float]:
        """Mean of the posterior, by arm, those without a weight too; 1.0: as all together."""
        counts = self._counts()
        return {arm: shape / rate for arm, (shape, rate) in counts.items()}

    def shares(
        self, rng: np.random.Generator, weights: Mapping[str, float] | None = None
    ) -> Mapping[str, float]:
        """The chance of each arm in the next draw. weights: of arms for once."""
        asked = self._weights if weights is None else weights
        counts = self._counts()
        arms = list(asked)
        known = [counts.get(arm, _NEW) for arm in arms]
        shape, rate = np.array([had for had, _ in known]), np.array([due for _, due in known])
        prior = np.array([asked[arm] for arm in arms])
        sampled = rng.gamma(shape, 1 / rate, size=(SAMPLES, len(arms))) ** SHARPNESS * prior
        followed = (sampled / sampled.sum(axis=1, keepdims=True)).mean(axis=0)
        if not self._sums:
            followed = prior / prior.sum()
        mixed = (1 - self._floor) * followed + self._floor * prior / prior.sum()
        return dict(zip(arms, (mixed / mixed.sum()).tolist(), strict=True))

    def _counts(self) -> Mapping[str, tuple[float, float]]:
        """By arm: gains had, and gains expected by what was spent."""
        arms = list(dict.fromkeys((*self._weights, *self._sums)))
        gained = sum(one.gain for one in self._sums.values())
        squares = sum(one.squares for one in self._sums.values())
        if not gained or not squares:
            return dict.fromkeys(arms, _NEW)
        unit, total = squares / gained, gained**2 / squares
        spent = self._spent_shares()
        found = {}
        for arm in arms:
            sums = self._sums.get(arm, _Sums())
            found[arm] = PRIOR + sums.gain / unit, PRIOR + total * spent.get(arm, 0.0)
        return found

    def _spent_shares(self) -> Mapping[str, float]:
        """The mean of an arm's shares, over the kinds of cost that anything was spent of."""
        spent = [one.costs for one in self._sums.values()]
        totals = [math.fsum(kind) for kind in zip(*spent, strict=True)]
        kinds = [place for place, total in enumerate(totals) if total > 0]
        return {
            arm: sum(sums.costs[place] / totals[place] for place in kinds) / max(1, len(kinds))
            for arm, sums in self._sums.items()
        }


_NEW = (PRIOR, PRIOR)


def drawn(shares: Mapping[str, float], rng: np.random.Generator) -> str:
    """One arm, each with its share of the chance."""
    arms = list(shares)
    chances = np.array(list(shares.values()))
    return arms[int(rng.choice(len(arms), p=chances / chances.sum()))]
