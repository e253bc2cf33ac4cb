"""One island's credit: what its next cycle is, and whom that asks, by what was earned before."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.config import CampaignConfig
from engine.credit.bandit import Bandit, drawn
from engine.credit.choices import (
    AS_DEALT,
    AVENUE,
    OPERATOR,
    WHOLE_CYCLE,
    choices_of,
    roles_asked,
    roles_of,
    writes,
)
from engine.store.events import CycleFinished, CycleStarted
from engine.store.kinds.credit import Earned
from operators.llm.question import ROLES

SHARP, GENTLE = 8.0, 1.0
"""Powers of a rate: among models, and where configured weights tell how much is worth asking."""
MOST = 4.0
"""Times as often as by its rank that a kernel is a Base for its line's sake; and as rarely."""
PLACE = 1
"""In the random key, after those of engine.islands.cycle: (seed, island, cycle, 0, PLACE)."""
DIGITS = 3
"""Of chances in the store."""

UNDRAWN = frozenset({"initial", "idea"})
"""Cycles that no draw decides on."""

Shares = Mapping[str, Mapping[str, float]]
"""Choice -> arm -> its chance."""


def worth(gain: float | None, deviation: float) -> float:
    """What a kernel's gain counts, 0..1: the share of the time that it saves for sure.

    gain: ln of how many times as fast, of which one standard error is taken off; None, a failure,
    is worth nothing, as is a kernel that is slower.
    """
    return 0.0 if gain is None else -math.expm1(-max(0.0, gain - deviation))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What was decided for a cycle. arms: choice -> arm; shares: with which chances. Who writes is
    drawn for each kernel by its chances."""

    arms: Mapping[str, str] = field(default_factory=dict)
    shares: Shares = field(default_factory=dict)

    @property
    def avenue(self) -> str:
        """The direction that a designer is told to look at first; "": as without credit."""
        arm = self.arms.get(AVENUE, AS_DEALT)
        return "" if arm == AS_DEALT else arm

    def models(self, rng: np.random.Generator) -> Mapping[str, str]:
        """Role -> the name of its model. rng: of the question, or of all for one kernel."""
        writers = {c: drawn(chances, rng) for c, chances in self.shares.items() if writes(c)}
        return {
            role: arm
            for choice, arm in {**self.arms, **writers}.items()
            for role in roles_of(choice)
            if role in ROLES
        }


NOTHING_DRAWN = Drawn()


class Credit:
    """Follows from (seed, island, cycle) and the order of the island's own events.

    Operators decide what is worked on too: they are credited with gains over the island's best.
    Models and avenues are given a Base: they are with gains over that. Models may change from one
    day to the next, and their gains tell of it. Those of operators and avenues grow rare as a
    search goes on, whoever is asked: there what was seen fades, and that is all.
    """

    def __init__(self, config: CampaignConfig, island: int) -> None:
        self._key = config.seed, island
        floor, half_life = config.credit.floor, config.credit.half_life
        self._bandits = {
            choice: Bandit(
                arms,
                floor=floor,
                half_life=half_life,
                sharpness=GENTLE if choice in (OPERATOR, AVENUE) else SHARP,
                gains_tell=choice not in (OPERATOR, AVENUE),
            )
            for choice, arms in choices_of(config, island).items()
        }
        self._lines = Bandit({}, floor=floor, half_life=half_life, sharpness=GENTLE)
        self._follows_lines = config.credit.on and config.operators_of(island).evolves
        self._open: dict[int, CycleStarted] = {}
        self.shares: dict[str, Mapping[str, float]] = {}
        """As they were last drawn by."""

    # --- what is next -----------------------------------------------------------------------

    def operators(self, cycle: int) -> Mapping[str, float] | None:
        """The chance of each in the cycle's draw; None: by the configured weights."""
        bandit = self._bandits.get(OPERATOR)
        return bandit.shares(self._rng(cycle, 0)) if bandit else None

    def draw(self, cycle: int, operator: str, operators: Mapping[str, float] | None) -> Drawn:
        """All that is decided for a cycle of that operator, which was drawn by these chances."""
        asked = roles_asked(operator)
        shares = {
            choice: bandit.shares(self._rng(cycle, 1 + place))
            for place, (choice, bandit) in enumerate(self._bandits.items())
            if (choice == AVENUE and operator == "experiment") or asked & {*roles_of(choice)}
        }
        rng = self._rng(cycle, 1 + len(self._bandits))
        arms = {choice: drawn(one, rng) for choice, one in shares.items() if not writes(choice)}
        if operators is not None and operator in operators:
            shares, arms = {OPERATOR: operators, **shares}, {OPERATOR: operator, **arms}
        return Drawn(arms=arms, shares={choice: _rounded(one) for choice, one in shares.items()})

    def lines(self, of: Mapping[str, str]) -> Mapping[str, float]:
        """of: kernel id -> its line. How much sooner than by rank each is to be a Base, where that
        is not 1."""
        if not self._follows_lines:
            return {}
        rates = self._lines.rates()
        told = {one: min(MOST, max(1 / MOST, rates.get(line, 1.0))) for one, line in of.items()}
        return {one: round(factor, DIGITS) for one, factor in told.items() if factor != 1}

    def _rng(self, cycle: int, number: int) -> np.random.Generator:
        return np.random.default_rng((*self._key, cycle, 0, PLACE, number))

    # --- what was earned --------------------------------------------------------------------

    def begin(self, started: CycleStarted) -> None:
        self.shares.update(started.shares)
        if started.operator not in UNDRAWN:
            self._open[started.cycle] = started

    def take(self, finished: CycleFinished) -> None:
        """Cycles end in another order than they begin; what each was asked is kept until then."""
        for one in finished.earned:
            if one.line:
                costs = 1.0, one.seconds, one.dollars
                self._lines.take(one.line, worth(one.over_best, one.deviation), costs)
        started = self._open.pop(finished.cycle, None)
        if started is None:
            return
        arms = {**started.drawn, **finished.asked, OPERATOR: started.operator}
        for choice, bandit in self._bandits.items():
            if choice in WHOLE_CYCLE and choice in arms:
                _whole(bandit, arms[choice], finished.earned, over_best=choice == OPERATOR)
            elif choice not in WHOLE_CYCLE:
                for one in finished.earned:
                    if one.role in roles_of(choice) and one.model:
                        _write(bandit, one)

    def hear(self, one: Earned) -> None:
        """A kernel of another island."""
        for choice, bandit in self._bandits.items():
            if one.role in roles_of(choice) and one.model in bandit.weights:
                _write(bandit, one)

    @property
    def rates(self) -> Shares:
        """By choice and arm: gains for what they cost, 1.0 being that of all arms together."""
        return {choice: bandit.rates() for choice, bandit in self._bandits.items()}


def _write(bandit: Bandit, one: Earned) -> None:
    costs = 1.0, one.seconds, one.dollars
    bandit.take(one.model, worth(one.gain, one.deviation), costs)


def _whole(bandit: Bandit, arm: str, earned: Iterable[Earned], *, over_best: bool) -> None:
    """All kernels of a cycle, and what it asked besides; without one it cost as one does."""
    kernels = 0
    for one in earned:
        kernels += bool(one.origin)
        gain = one.over_best if over_best else one.gain
        costs = float(bool(one.origin)), one.seconds, one.dollars
        bandit.take(arm, worth(gain, one.deviation), costs, kernel=bool(one.origin))
    if not kernels:
        bandit.take(arm, 0.0, (1.0, 0.0, 0.0))


def _rounded(shares: Mapping[str, float]) -> Mapping[str, float]:
    return {arm: round(share, DIGITS) for arm, share in shares.items()}
