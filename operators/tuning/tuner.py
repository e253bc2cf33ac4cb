"""Tuner: which points of a kernel's space to measure next, by all that was measured of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import ndtr

from evaluators.kernel.grid import Rows
from evaluators.weights import Weights, shares
from operators.tuning.space import Floats, Params, Space, codes, distinct
from operators.tuning.surrogate import Kernel, Posterior, Surrogate, fit_kernel

FIRST = 5
"""Points drawn at random before what was measured is asked."""

DRAWN = 800
"""Points of a large space that are looked at for each proposal, beside the neighbours of the
best."""

CENTRES = 5
"""Points whose neighbours are looked at: the best over all objectives, and the best of each."""

THOMPSON = 3
"""Every so many proposals one is by Thompson sampling: it leaves where the others stick."""

MOST_MEASURED = 256
"""Points that a proposal is made from, for the sake of time: half of them the best."""

REFIT = 1.25
"""The kernel is fitted again when there are so many times as many points."""

DEPTH = 1.0
"""What is further below the lower quarter counts as so far below it, in ln: a search for the best
need not tell bad points apart."""

HOPE, CAUTION = 0.9, 0.05
"""The chance of a point to pass, where nothing near it was measured; and how much that counts,
beside a point that was measured in the same place."""


Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A point and what became of it.

    gains: ln(time before / time) by objective, a task's shape or any other; None: it failed.
    error: standard error of a gain, as far as it is known. slow: it was stopped early, and is
    worse than others by more than is known; it has no gains then. relative: 0, or the number of
    another kernel that has such parameters, whose point it is.
    """

    params: Params
    gains: Mapping[str, float] | None
    error: float = 0.0
    slow: bool = False
    relative: int = 0


@dataclass(slots=True)
class Tuner:
    """Of one space. Its choice follows from what it is shown and from rng; it remembers only what
    it need not compute again. weights: of the objectives, by name."""

    space: Space
    weights: Weights = field(default_factory=dict)
    _fitted: tuple[int, Kernel] | None = None  # a hash of what it was fitted to, and the kernel

    def propose(
        self,
        measured: Sequence[Measured],
        pending: Sequence[Params],
        count: int,
        rng: np.random.Generator,
    ) -> list[dict[str, int]]:
        """Up to `count` points, none of them measured or pending; fewer where no more are left.

        measured: in the order in which it became known. pending: asked for, and not yet known.
        """
        own = [one.params for one in measured if not one.relative]
        known = np.unique(codes(self.space.rows([*own, *pending])))
        passed = [one for one in measured if one.gains]
        told = sum(bool(one.relative) for one in passed)
        early = max(0, min(count, FIRST - len(known) - told))
        if len(passed) < 2:
            early = count
        rows = self._drawn(known, early, rng)
        if len(rows) < count and len(passed) > 1:
            known = np.union1d(known, codes(rows))
            more = self._best(measured, pending, known, count - len(rows), rng)
            rows = np.concatenate([rows, more])
        return [self.space.params(row) for row in rows]

    def _best(
        self,
        measured: Sequence[Measured],
        pending: Sequence[Params],
        known: Rows,
        count: int,
        rng: np.random.Generator,
    ) -> Rows:
        """By what is expected of them."""
        data = _Data.of(measured, self.space, self.weights)
        centres = data.centres()
        near = [self.space.feasible(centres), *map(self.space.neighbours, centres)]
        others = self._drawn(known, DRAWN, rng)
        pool = distinct(np.concatenate([others, *(_fresh(one, known) for one in near)]))
        if not len(pool):
            return pool
        kernel = self._kernel(measured)
        own = data.features_of(pool, self.space)
        ahead = data.features_of(self.space.rows(pending), self.space)
        surrogate = Surrogate(kernel, data.features, data.values, data.noise)
        incumbent = surrogate.fitted[data.rivals].max(axis=0)
        posterior = surrogate.over(np.concatenate([own, ahead]))
        for place in range(len(own), len(own) + len(ahead)):
            posterior.believe(place)
        success = _success(posterior.close[: len(own)], data.passed)
        chosen: list[int] = []
        for turn in range(len(known), len(known) + min(count, len(pool))):
            if turn % THOMPSON:
                worth = _improvement(posterior, incumbent, data.worth)[: len(own)] * success
            else:
                drawn = _drawn(posterior, data.worth, rng)[: len(own)]
                worth = np.where(success > 0.5, drawn, -np.inf)
            worth[chosen] = -np.inf
            chosen.append(int(np.argmax(worth)))
            posterior.believe(chosen[-1])
        return pool[chosen]

    def _drawn(self, known: Rows, count: int, rng: np.random.Generator) -> Rows:
        """Points at random that are not known; all that are left where these are fewer."""
        return _fresh(self.space.draw(rng, count + len(known)), known)[:count]

    def _kernel(self, measured: Sequence[Measured]) -> Kernel:
        """Fitted to the first of its own points, and to all of its relatives."""
        own = [one for one in measured if not one.relative]
        relatives = [one for one in measured if one.relative]
        count = FIRST
        while int(count * REFIT) + 1 <= len(own):
            count = int(count * REFIT) + 1
        shown = own[:count]
        key = hash((tuple(map(_told, shown)), max((one.relative for one in relatives), default=0)))
        if self._fitted is None or self._fitted[0] != key:
            known = [*shown, *relatives]
            passed = sum(bool(one.gains) for one in known) > 1
            data = _Data.of(known if passed else measured, self.space, self.weights)
            self._fitted = key, fit_kernel(data.features, data.values, data.noise)
        return self._fitted[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """What a surrogate is made of. values: standardised gains by point and objective; share: what
    each objective counts, of 1; worth: of a standardised gain on each, in ln; passed: whether a
    point has gains."""

    rows: Rows
    features: Floats
    values: Floats
    noise: Floats
    share: Floats
    worth: Floats
    passed: Mask
    own: Mask
    relatives: int

    @classmethod
    def of(cls, measured: Sequence[Measured], space: Space, weights: Weights) -> "_Data":
        """Of the best and the latest, where there are many."""
        names = sorted({name for one in measured for name in one.gains or ()})
        gains = np.array(
            [[(one.gains or {}).get(name, np.nan) for name in names] for one in measured]
        )
        passed = ~np.isnan(gains).any(axis=1)
        floor = np.quantile(gains[passed], 0.25, axis=0) - DEPTH
        failed = np.quantile(gains[passed], 0.1, axis=0)
        slow = np.array([one.slow for one in measured])
        gains = np.where(passed[:, None], gains, np.where(slow[:, None], floor, failed))
        gains = np.maximum(gains, floor)
        share = np.array(shares(names, weights))
        kept = _kept(gains @ share)
        gains, passed = gains[kept], passed[kept]
        scale = gains.std(axis=0) + 1e-9
        errors = np.array([one.error for one in measured])[kept]
        rows = space.rows([one.params for one in measured])[kept]
        relative = np.array([one.relative for one in measured])
        numbers = np.arange(1, 1 + relative.max())
        relative = relative[kept]
        return cls(
            rows=rows,
            features=np.hstack([space.features(rows), relative[:, None] == numbers]),
            values=(gains - gains.mean(axis=0)) / scale,
            noise=(errors / scale.mean()) ** 2,
            share=share,
            worth=scale * share,
            passed=passed | slow[kept],
            own=relative == 0,
            relatives=len(numbers),
        )

    def features_of(self, rows: Rows, space: Space) -> Floats:
        """Of points of the space itself."""
        return np.hstack([space.features(rows), np.zeros((len(rows), self.relatives))])

    @property
    def rivals(self) -> Mask:
        """Whose best is to be beaten: its own points, or the relatives' while it has none."""
        mine = self.own & self.passed
        return mine if mine.any() else self.passed

    def centres(self) -> Rows:
        order = np.argsort(-(self.values @ self.share), kind="stable")[:CENTRES]
        return distinct(self.rows[[*order, *self.values.argmax(axis=0)]])


def _fresh(rows: Rows, known: Rows) -> Rows:
    return rows[~np.isin(codes(rows), known)]


def _told(one: Measured) -> tuple[Any, ...]:
    return tuple(one.params.items()), tuple((one.gains or {}).items()), one.slow


def _kept(gains: Floats) -> Any:
    """Places of at most MOST_MEASURED points, in their order."""
    half = MOST_MEASURED // 2
    if len(gains) <= MOST_MEASURED:
        return np.arange(len(gains))
    best = np.argsort(-gains, kind="stable")[:half]
    others = np.setdiff1d(np.arange(len(gains)), best)
    return np.sort(np.concatenate([best, others[-half:]]))


def _improvement(posterior: Posterior, incumbent: Floats, worth: Floats) -> Floats:
    """What is expected to be gained over the best of each objective, in ln, on average.

    Expected improvement: Jones, Schonlau, Welch, J. Global Optimization 13 (1998).
    """
    deviation = posterior.deviation[:, None]
    ahead = (posterior.mean - incumbent) / deviation
    density = np.exp(-0.5 * ahead**2) / np.sqrt(2 * np.pi)
    return np.asarray((deviation * (ahead * ndtr(ahead) + density)) @ worth)


def _drawn(posterior: Posterior, worth: Floats, rng: np.random.Generator) -> Floats:
    """What each point may bring. W. R. Thompson, Biometrika 25 (1933)."""
    luck = rng.normal(size=len(posterior.mean)) * posterior.deviation
    return np.asarray((posterior.mean + luck[:, None]) @ worth)


def _success(close: Floats, passed: Mask) -> Floats:
    """The chance to pass, by the share of those nearby that did (Nadaraya and Watson, 1964)."""
    if passed.all():
        return np.ones(len(close))
    near = close**2
    return np.asarray((near @ passed + HOPE * CAUTION) / (near.sum(axis=1) + CAUTION))
