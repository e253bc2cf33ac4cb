"""A choice among arms that follows what they gained for what it cost: a Gamma-Poisson bandit."""

from collections.abc import Mapping

import numpy as np

PRIOR = 0.5
"""Gains that an arm is believed to have had beforehand, at the usual rate."""
SAMPLES = 64
"""Of the posterior, over which the chances of a draw are averaged."""
USUAL = 10.0
"""How many half-lives the usual rate is remembered for."""
RARE = 1e-3
"""Of the chance of the likeliest; what is less likely is forgotten."""
FORGOTTEN = 1e-100
"""Squares of gains that are taken for none."""

Costs = tuple[float, float, float]
"""What was spent: kernels, seconds, dollars. Only their shares count."""

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def _row(gain: float, costs: Costs) -> Array:
    """(5,): gain, its square, kernels, seconds, dollars."""
    return np.array([gain, gain**2, *costs])


class _Arm:
    """What it gained and cost since it last changed, and how likely it did when.

    chances: (n,), of a change before each of its last kernels, the last one of a change since;
    sums: (n, 5), of _row, since then; tries: (n, 2), its kernels since then without a gain, and
    with one. Each begins with a half, after Jeffreys.
    """

    def __init__(self) -> None:
        self._chances = np.ones(1)
        self._sums = np.zeros((1, 5))
        self._tries = np.full((1, 2), 0.5)
        self._at = 0

    def take(self, row: Array, stays: float, at: int, *, tells: bool) -> None:
        """stays: the chance that no change comes with a kernel; at: how many all arms had. tells:
        this is a kernel, and whether it gained tells of changes."""
        chances, self._at = self._waited(stays, at), at
        if tells:
            gained = int(row[0] > 0)
            chances *= self._tries[:, gained] / self._tries.sum(axis=1)
            self._tries[:, gained] += 1
        kept = chances > RARE * chances.max()
        self._chances = np.append(chances[kept] / chances[kept].sum(), 0.0)
        self._sums = np.vstack([self._sums[kept] + row, np.zeros(5)])
        self._tries = np.vstack([self._tries[kept], np.full(2, 0.5)])

    def sums(self, stays: float, at: int) -> Array:
        """(5,): what is to be expected that it gained and cost as it is now."""
        return self._waited(stays, at) @ self._sums

    def _waited(self, stays: float, at: int) -> Array:
        """The chances, when other arms had kernels meanwhile."""
        chances = self._chances * stays ** (at - self._at)
        chances[-1] += 1 - chances.sum()
        return chances


class Bandit:
    """Arms with weights, and what each gained and cost since it last changed.

    An arm's rate is how many gains it had, over how many would have been usual for what it spent:
    those of all arms together over a longer time, by its part of what they spent (the mean of its
    parts of kernels, seconds and dollars). Both counts begin with PRIOR (the Gamma-Poisson shrinker
    of DuMouchel, The American Statistician 53, 1999), so that the posterior of a rate is a Gamma,
    its mean 1 where nothing is known. How many gains unequal ones amount to is their effective
    number, (sum)^2 / sum of squares. A draw samples the rates (Thompson, Biometrika 25, 1933), and
    takes an arm with a chance in proportion to its weight times a power of its rate, so that
    weights alone decide at first. A part of the draws, the floor, follows the weights for ever.

    An arm may change with every kernel that is taken, and what it was before says nothing of what
    it is now. So what was seen fades, and an arm that is no longer asked is tried again. Where
    gains tell of changes, when it last changed follows from whether its kernels gained (Adams and
    MacKay, Bayesian online changepoint detection, 2007; with Thompson sampling Mellor and Shapiro,
    AISTATS 2013): an arm that no longer does what it did is left soon, and one that goes on as it
    did keeps its record.
    """

    def __init__(
        self,
        weights: Mapping[str, float],
        *,
        floor: float,
        half_life: float,
        sharpness: float,
        gains_tell: bool = False,
    ) -> None:
        """floor: 0..1; half_life: kernels after which an arm is as likely to have changed as not,
        where its gains don't tell; sharpness: the power of a rate. Arms with weight 0 are never
        drawn."""
        self.weights = {arm: weight for arm, weight in weights.items() if weight > 0}
        self._floor, self._sharpness, self._gains_tell = floor, sharpness, gains_tell
        self._stays = 0.5 ** (1 / half_life)
        self._usual_fading = 0.5 ** (1 / (USUAL * half_life))
        self._arms: dict[str, _Arm] = {}
        self._usual = np.zeros(5)
        self._taken = 0

    def take(self, arm: str, gain: float, costs: Costs, *, kernel: bool = True) -> None:
        """gain: 0 where it failed. kernel: False: these are costs besides."""
        if kernel:
            self._taken += 1
            self._usual *= self._usual_fading
            if self._usual[1] <= FORGOTTEN:  # they come to 0 before gains do, and divide them
                self._usual[:2] = 0.0
        row = _row(gain, costs)
        self._usual += row
        tells = kernel and self._gains_tell
        self._arms.setdefault(arm, _Arm()).take(row, self._stays, self._taken, tells=tells)

    def rates(self) -> Mapping[str, float]:
        """Mean of the posterior by arm; 1.0: as usual."""
        counts = {arm: self._count(arm) for arm in dict.fromkeys((*self.weights, *self._arms))}
        return {arm: had / due for arm, (had, due) in counts.items()}

    def shares(self, rng: np.random.Generator) -> Mapping[str, float]:
        """The chance of each arm in the next draw."""
        weights = np.array([*self.weights.values()], dtype=float)
        weights /= weights.sum()
        counts = np.array([self._count(arm) for arm in self.weights])
        rates = rng.gamma(counts[:, 0], 1 / counts[:, 1], size=(SAMPLES, len(weights)))
        if not self._usual[0]:
            rates = np.ones_like(rates)
        followed = weights * np.maximum(rates, 1e-9) ** self._sharpness
        followed = (followed / followed.sum(axis=1, keepdims=True)).mean(axis=0)
        mixed = (1 - self._floor) * followed + self._floor * weights
        return dict(zip(self.weights, mixed.tolist(), strict=True))

    def _count(self, arm: str) -> tuple[float, float]:
        """Gains that it had, and that were usual for what it spent; PRIOR is in both."""
        gain, squares, *costs = self._usual
        if not gain:
            return PRIOR, PRIOR
        known = self._arms.get(arm)
        sums = known.sums(self._stays, self._taken) if known else np.zeros(5)
        unit = squares / gain
        parts = [mine / whole for mine, whole in zip(sums[2:], costs, strict=True) if whole > 0]
        due = gain / unit * sum(parts) / len(parts)
        return PRIOR + sums[0] / unit, PRIOR + due


def drawn(shares: Mapping[str, float], rng: np.random.Generator) -> str:
    """One arm, each with its share of the chance."""
    arms = list(shares)
    chances = np.array(list(shares.values()))
    return arms[int(rng.choice(len(arms), p=chances / chances.sum()))]
