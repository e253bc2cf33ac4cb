"""A choice among arms that follows what they gained for what it cost: a Gamma-Poisson bandit."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

PRIOR = 0.5
"""Gains that an arm is believed to have had beforehand, at the usual rate."""
SAMPLES = 64
"""Of the posterior, over which the chances of a draw are averaged."""
USUAL = 10.0
"""How many half-lives of an arm's sums the usual rate is remembered for."""
FORGOTTEN = 1e-100

Costs = tuple[float, float, float]
"""What was spent: kernels, seconds, dollars. Only their shares count."""


@dataclass(slots=True)
class _Sums:
    gain: float = 0.0
    squares: float = 0.0
    costs: Costs = (0.0, 0.0, 0.0)

    def fade(self, by: float) -> None:
        gain, squares = self.gain * by, self.squares * by
        # Squares come to 0 before gains do, and one is divided by the other.
        self.gain, self.squares = (gain, squares) if squares > FORGOTTEN else (0.0, 0.0)
        kernels, seconds, dollars = self.costs
        self.costs = kernels * by, seconds * by, dollars * by

    def add(self, gain: float, costs: Costs) -> None:
        self.gain, self.squares = self.gain + gain, self.squares + gain**2
        mine, more = self.costs, costs
        self.costs = mine[0] + more[0], mine[1] + more[1], mine[2] + more[2]


class Bandit:
    """Arms with weights, and discounted sums of what each gained and cost.

    An arm's rate is how many gains it had, over how many would have been usual for what it spent:
    those of all arms together over a longer time, by its part of what they spent (the mean of its
    parts of kernels, seconds and dollars). Both counts begin with PRIOR (the Gamma-Poisson shrinker
    of DuMouchel, The American Statistician 53, 1999), so that the posterior of a rate is a Gamma,
    its mean 1 where nothing is known. How many gains unequal ones amount to is their effective
    number, (sum)^2 / sum of squares. A draw samples the rates (Thompson, Biometrika 25, 1933), and
    takes an arm with a chance in proportion to its weight times a power of its rate, so that
    weights alone decide at first. A part of the draws, the floor, follows the weights for ever.
    What was seen fades, so that an arm which is no longer asked is tried again, and one which no
    longer gains is left soon.
    """

    def __init__(
        self, weights: Mapping[str, float], *, floor: float, half_life: float, sharpness: float
    ) -> None:
        """floor: 0..1; half_life: in kernels that were taken; sharpness: the power of a rate. Arms
        with weight 0 are never drawn."""
        self.weights = {arm: weight for arm, weight in weights.items() if weight > 0}
        self._floor, self._sharpness = floor, sharpness
        self._fading = 0.5 ** (1 / half_life)
        self._usual_fading = 0.5 ** (1 / (USUAL * half_life))
        self._sums: dict[str, _Sums] = {}
        self._usual = _Sums()

    def take(self, arm: str, gain: float, costs: Costs, *, fades: bool = True) -> None:
        """gain: 0 where it failed. fades: what was seen before counts a little less from now on."""
        if fades:
            self._usual.fade(self._usual_fading)
            for sums in self._sums.values():
                sums.fade(self._fading)
        self._usual.add(gain, costs)
        self._sums.setdefault(arm, _Sums()).add(gain, costs)

    def rates(self) -> Mapping[str, float]:
        """Mean of the posterior by arm; 1.0: as usual."""
        counts = {arm: self._count(arm) for arm in dict.fromkeys((*self.weights, *self._sums))}
        return {arm: had / due for arm, (had, due) in counts.items()}

    def shares(self, rng: np.random.Generator) -> Mapping[str, float]:
        """The chance of each arm in the next draw."""
        weights = np.array([*self.weights.values()], dtype=float)
        weights /= weights.sum()
        counts = np.array([self._count(arm) for arm in self.weights])
        rates = rng.gamma(counts[:, 0], 1 / counts[:, 1], size=(SAMPLES, len(weights)))
        if not self._usual.gain:
            rates = np.ones_like(rates)
        followed = weights * np.maximum(rates, 1e-9) ** self._sharpness
        followed = (followed / followed.sum(axis=1, keepdims=True)).mean(axis=0)
        mixed = (1 - self._floor) * followed + self._floor * weights
        return dict(zip(self.weights, mixed.tolist(), strict=True))

    def _count(self, arm: str) -> tuple[float, float]:
        """Gains that it had, and that were usual for what it spent; PRIOR is in both."""
        usual, sums = self._usual, self._sums.get(arm, _Sums())
        if not usual.gain:
            return PRIOR, PRIOR
        unit = usual.squares / usual.gain
        pairs = zip(sums.costs, usual.costs, strict=True)
        parts = [mine / whole for mine, whole in pairs if whole > 0]
        due = usual.gain / unit * sum(parts) / len(parts)
        return PRIOR + sums.gain / unit, PRIOR + due


def drawn(shares: Mapping[str, float], rng: np.random.Generator) -> str:
    """One arm, each with its share of the chance."""
    arms = list(shares)
    chances = np.array(list(shares.values()))
    return arms[int(rng.choice(len(arms), p=chances / chances.sum()))]
