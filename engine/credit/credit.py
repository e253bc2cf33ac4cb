"""One island's credit: what its next cycle is, and whom that asks, by what was earned before."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from engine.config import CampaignConfig
from engine.credit.bandit import Bandit, drawn
from engine.credit.choices import AVENUE, LINE, OPERATOR, choices_of, roles_of
from engine.store.credit import Earned
from engine.store.events import CycleFinished, CycleStarted
from operators.llm.question import ROLES

PLACE = 1
"""In the random key, after those of engine.islands.cycle: (seed, island, cycle, 0, PLACE)."""
DIGITS = 3
"""Of chances in the store."""

_NORMAL = NormalDist()
Shares = Mapping[str, Mapping[str, float]]
"""Choice -> arm -> its chance."""


def worth(gain: float | None, deviation: float) -> float:
    """What a kernel's gain counts, 0..1: the share of the time that it saves.

    gain: ln of how many times as fast; None, a failure, is worth nothing. What an interval leaves
    open counts as far as it may be a gain: the mean of max(0, x) over x ~ N(gain, deviation).
    """
    if gain is None:
        return 0.0
    if deviation <= 0:
        return -math.expm1(-max(0.0, gain))
    z = gain / deviation
    return -math.expm1(-max(0.0, gain * _NORMAL.cdf(z) + deviation * _NORMAL.pdf(z)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What was decided for a cycle. arms: choice -> arm; shares: with which chances."""

    arms: Mapping[str, str] = field(default_factory=dict)
    shares: Shares = field(default_factory=dict)


NOTHING_DRAWN = Drawn()


def _rounded(shares: Mapping[str, float]) -> Mapping[str, float]:
    return {arm: round(share, DIGITS) for arm, share in shares.items()}


def models_in(arms: Mapping[str, str]) -> Mapping[str, str]:
    """Of what was drawn: role -> the name of its model."""
    return {choice: arm for choice, arm in arms.items() if choice in ROLES}


class Credit:
    """Follows from (seed, island, cycle) and the order of the island's own events.

    Operators and lines decide what is worked on: they are credited with gains over the island's
    best. Models and avenues are given a Base: they are with gains over that.
    """

    def __init__(self, config: CampaignConfig, island: int) -> None:
        self._key = config.seed, island
        self._floor, self._half_life = config.credit.floor, config.credit.half_life
        self._bandits = {
            choice: self._bandit(arms) for choice, arms in choices_of(config, island).items()
        }
        self._open: dict[int, CycleStarted] = {}

    def _bandit(self, weights: Mapping[str, float]) -> Bandit:
        return Bandit(weights, floor=self._floor, half_life=self._half_life)

    # --- what is next -----------------------------------------------------------------------

    def operators(self, cycle: int) -> Mapping[str, float] | None:
        """The chance of each in the cycle's draw; None: by the configured weights."""
        bandit = self._bandits.get(OPERATOR)
        return bandit.shares(self._rng(cycle, 0)) if bandit else None

    def draw(self, cycle: int, operator: str, operators: Mapping[str, float] | None) -> Drawn:
        """All that is decided for a cycle of that operator, which was drawn by these chances."""
        asked = roles_of(operator) + ((AVENUE,) if operator == "experiment" else ())
        shares = {
            choice: bandit.shares(self._rng(cycle, 1 + place))
            for place, (choice, bandit) in enumerate(self._bandits.items())
            if choice in asked
        }
        rng = self._rng(cycle, 1 + len(self._bandits))
        arms = {choice: drawn(chances, rng) for choice, chances in shares.items()}
        if operators is not None and operator in operators:
            shares, arms = {OPERATOR: operators, **shares}, {OPERATOR: operator, **arms}
        return Drawn(arms=arms, shares={choice: _rounded(one) for choice, one in shares.items()})

    def _rng(self, cycle: int, number: int) -> np.random.Generator:
        return np.random.default_rng((*self._key, cycle, 0, PLACE, number))

    # --- what was earned --------------------------------------------------------------------

    def begin(self, started: CycleStarted) -> None:
        if started.operator != "initial":
            self._open[started.cycle] = started

    def take(self, finished: CycleFinished) -> None:
        """Cycles end in another order than they begin; what each was asked is kept until then."""
        started = self._open.pop(finished.cycle, None)
        if started is None or not self._bandits:
            return
        for bandit in self._bandits.values():
            bandit.fade()
        arms = {**started.drawn, **finished.asked, OPERATOR: started.operator}
        for choice, bandit in self._bandits.items():
            if choice in arms:
                self._credit(choice, bandit, arms[choice], finished.earned)

    def _credit(self, choice: str, bandit: Bandit, arm: str, earned: tuple[Earned, ...]) -> None:
        whole = choice in (OPERATOR, AVENUE, LINE, "selector", "designer")
        mine = [one for one in earned if whole or one.role == choice]
        over_best = choice in (OPERATOR, LINE, "selector")
        kernels = sum(bool(one.origin) for one in mine)
        costs = (
            float(max(1, kernels)),
            sum(one.seconds for one in mine),
            sum(one.dollars for one in mine),
        )
        if not mine and not whole:
            return  # the role was not asked
        gains = [worth(one.over_best if over_best else one.gain, one.deviation) for one in mine]
        for gain in gains[:-1]:
            bandit.take(arm, gain, (0.0, 0.0, 0.0))
        bandit.take(arm, gains[-1] if gains else 0.0, costs)

    @property
    def rates(self) -> Shares:
        """By choice and arm: gains for what they cost, 1.0 being that of all arms together."""
        return {choice: bandit.rates() for choice, bandit in self._bandits.items()}
