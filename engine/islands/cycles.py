"""An island's cycles: those under way, and which one comes next."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.credit.choices import models_drawn
from engine.credit.credit import NOTHING_DRAWN, Credit, Drawn
from engine.credit.earning import line_of
from engine.islands.candidates import Candidates
from engine.islands.cycle import CYCLE, Cycle, draw_operator
from engine.islands.earnings import Earnings
from engine.islands.injections import IDEA, Injections
from engine.islands.memory import Memory
from engine.islands.setbacks import Setbacks
from engine.islands.setting import Setting
from engine.store.events import CycleFinished, CycleStarted
from engine.store.kinds.steering import Injected
from operators.individual import Individual


class Cycles:
    """The next one follows from (seed, island, cycle) and what became of those before: what was
    earned, which replies could not be used, and whether the population stagnates."""

    def __init__(
        self,
        index: int,
        setting: Setting,
        memory: Memory,
        candidates: Candidates,
        injections: Injections,
        initial: int,
    ) -> None:
        """initial: how many of the first measure the initial design."""
        self._index, self._setting, self._initial = index, setting, initial
        self._mix = setting.config.operators_of(index)
        self._memory, self._candidates, self._injections = memory, candidates, injections
        self._open: dict[int, Cycle] = {}
        self.last = 0
        """The number of the last that began."""
        self.setbacks = Setbacks(
            index, self._mix, setting.config.llm, models_drawn(setting.config, index)
        )
        self.credit = Credit(setting.config, index)
        self.earnings = Earnings(index, setting, self.credit)

    @property
    def open(self) -> list[Cycle]:
        """Those that began and are not finished."""
        return list(self._open.values())

    def next(self) -> Cycle:
        """It has begun, and the journal is told."""
        number = self.last + 1
        if idea := self._injections.take_idea():
            heard = self._take_heard()
            cycle = self._start(number, IDEA, (idea.base,), NOTHING_DRAWN, idea.event)
            return self._tell_of(cycle.started(self._index, heard), cycle)
        config = self._setting.config
        rng = self._setting.rng(self._index, number, CYCLE)
        shares = self.credit.operators(number)
        operator = self.setbacks.rests.drawn(number, draw_operator(self._mix, rng, shares))
        if number <= self._initial:
            operator = "initial"
        heard = self._take_heard()
        limit = config.islands.restart
        restarted = limit is not None and self._memory.stale >= limit and self._restart()
        size = config.islands.tournament_of(self._mix.kind)
        tournament = self._memory.tournament(rng, size)
        drawn = self.credit.draw(number, operator, shares)
        cycle = self._start(number, operator, tournament, drawn)
        return self._tell_of(cycle.started(self._index, heard, restarted=restarted), cycle)

    def restore(self, event: CycleStarted) -> None:
        """Begin one as it began before."""
        self._take_heard()
        if event.restarted:
            self._restart()
        idea = self._injections.take_idea(event.idea)
        chosen = (idea.base,) if idea else self._memory.members(event.tournament)
        drawn = Drawn(arms=event.drawn, shares=event.shares)
        self._start(event.cycle, event.operator, chosen, drawn, idea.event if idea else None)
        self.credit.begin(event)

    def close(self, finished: CycleFinished) -> None:
        """What it came to decides on those that begin from now on."""
        cycle = self._open.pop(finished.cycle, None)
        self.earnings.take(finished, foretold=cycle is None or cycle.idea is None)
        self.setbacks.take(finished)
        self._candidates.forget(finished.cycle)

    def _tell_of(self, started: CycleStarted, cycle: Cycle) -> Cycle:
        self.credit.begin(started)
        self._setting.journal.post(started)
        return cycle

    def _take_heard(self) -> tuple[str, ...]:
        """Of other islands: kernels to look up, and what models are worth. Their drafts' keys."""
        heard = self._memory.take_heard()
        self.earnings.hear(heard, self._memory.individuals)
        return tuple(f"i{one.island}/c{one.cycle}/s{one.slot}" for one in heard)

    def _restart(self) -> bool:
        return self._mix.evolves and self._memory.restart()

    def _start(
        self,
        number: int,
        operator: str,
        tournament: tuple[Individual, ...],
        drawn: Drawn,
        idea: Injected | None = None,
    ) -> Cycle:
        way = self.setbacks.begin(number, operator)
        calibration = self.earnings.calibration({**drawn.arms, **way.models})
        cycle = Cycle(
            number=number,
            operator=operator,
            tournament=tournament,
            individuals=self._memory.shown(tournament),
            profiles=dict(self._memory.profiles),
            knowledge=replace(self._memory.knowledge, calibration=calibration.told),
            tuned=dict(self._memory.tuned) if self._setting.evaluate_idle else None,
            pending=tuple(one.candidate for one in self._candidates.unfinished()),
            way=way,
            idea=idea,
            drawn=drawn,
            lines=self._lines(tournament),
            best=next(iter(self._memory.population), None),
            calibration=calibration,
        )
        self._open[number] = cycle
        self.last = max(self.last, number)
        return cycle

    def _lines(self, tournament: Sequence[Individual]) -> Mapping[str, float]:
        known = self._memory.individuals
        return self.credit.lines({one.id: line_of(one, known) for one in tournament})
