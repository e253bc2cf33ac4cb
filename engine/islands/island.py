"""One island: cycles of ask, evaluate and tell over its own population; a plain class."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from engine.credit.calibration import Calibrations, designer_of
from engine.credit.credit import NOTHING_DRAWN, Credit, Drawn
from engine.credit.earning import earned, line_of
from engine.credit.meter import Bill
from engine.credit.told import shares_text
from engine.ending import Stopped
from engine.gate import Gate
from engine.islands.candidates import Candidates
from engine.islands.cycle import CYCLE, Ask, Cycle, decided, draw_operator, finish_all
from engine.islands.injections import IDEA, Injections, idea_ask
from engine.islands.memory import Memory
from engine.islands.population import island_state
from engine.islands.probes import Probes
from engine.islands.setbacks import Setbacks
from engine.islands.setting import Setting
from engine.islands.tally import ROLE_OF, Tally
from engine.islands.tuning import Tuning
from engine.snapshot import IslandState
from engine.store.events import Added, CycleFinished, CycleStarted, Drafted, Event, Migrated
from engine.store.kinds.credit import Earned
from engine.store.kinds.findings import Distilled, FindingsTold
from engine.store.kinds.probes import Probed, ProbeHeard
from engine.store.kinds.profiles import Learned, Profiled
from engine.store.kinds.revisions import Revised
from engine.store.kinds.steering import Injected
from evaluators.evaluation import Evaluation
from evaluators.measuring.gain import spread_on
from operators.individual import Candidate, Individual
from operators.llm.prompts.steps import base_of
from operators.operator import Declined, Design, Selection

STOPPED, EXHAUSTED = "stopped", "exhausted"
"""Two of the ways in which an island ends."""


class Island:
    """Decisions follow from (seed, island, cycle) and the order of the island's own events."""

    def __init__(self, index: int, setting: Setting) -> None:
        self.index = index
        self._setting = setting
        self._config = setting.config
        self._mix = setting.config.operators_of(index)
        self._memory = Memory(setting.config.islands.capacity, self._mix)
        self.tuning = Tuning(index, setting, self._memory)
        self._candidates = Candidates(index, setting, self._memory, self.tuning)
        self.injections = Injections(setting, self._candidates)
        self.pause = Gate()  # closed: no cycle begins
        self._open: dict[int, Cycle] = {}
        self._last_cycle = 0
        self._barren = 0  # cycles in a row without a new kernel
        self._setbacks = Setbacks(index, self._mix, setting.config.llm)
        self._credit = Credit(setting.config, index)
        self._calibrations = Calibrations()
        self._spread = spread_on(setting.device)
        self._lost = ""  # why it ends, where no reply could be used
        self._probes = Probes(index, setting)
        self._asker = setting.asker(self._mix, self._note, self._probes)

    # --- life -------------------------------------------------------------------------------

    async def begin(self, baseline: Candidate, evaluation: Evaluation) -> None:
        """Take in the naive seed; on a resumed island, have evaluated what a kill left over."""
        if self._memory.population:
            self._handed_in = self._setting.hand_in(self._candidates.unfinished())
            await asyncio.sleep(0)  # all of it is asked for before an island runs
            return
        drafted = Drafted(
            island=self.index,
            cycle=0,
            slot=0,
            kernel_id=evaluation.kernel_id,
            candidate=baseline,
            origin="seed",
        )
        await self._setting.journal.commit(drafted)
        self._candidates.tell(drafted, evaluation)

    async def run(self) -> str:
        """Cycles until the campaign stops or nothing new is found; returns why it ended."""
        resumed = list(self._open.values())
        lanes = self._config.islands.lanes
        shares = [resumed[lane::lanes] for lane in range(lanes)]
        self.injections.start()
        endings = await asyncio.gather(*(self._lane(share) for share in shares))
        await self.injections.ended()
        return endings[0]

    def receive(self, source: int, round: int, elites: Sequence[Individual]) -> None:
        """Take elites of another island in."""
        keys = tuple(f"i{e.island}/c{e.cycle}/s{e.slot}" for e in elites)
        event = Migrated(island=self.index, source=source, round=round, drafts=keys)
        self._setting.journal.post(event)
        self._memory.take_in(elites)

    def hear(self, individuals: Iterable[Individual]) -> None:
        """Other islands tell what became of their own; the population stays as it is."""
        self._memory.hear(individuals)

    def learn(self, profiled: Profiled) -> None:
        """Take a profile's advice in; cycles that have begun go on without it."""
        if profiled.kernel_id not in self._memory.profiles:
            self._memory.profiles[profiled.kernel_id] = profiled.advice
            self._setting.journal.post(Learned(island=self.index, kernel_id=profiled.kernel_id))

    def hear_answer(self, probed: Probed) -> None:
        """Take a probe's answer in; cycles that have begun go on without it."""
        if self._memory.take_answer(probed):
            self._setting.journal.post(ProbeHeard(island=self.index, probe_id=probed.key))

    def know(self, distilled: Distilled) -> None:
        """Take the findings in; cycles that have begun go on with those of before. Without a memory
        that is shared an island knows only what was brought along."""
        shared = distilled.number == 0 or self._config.shares_memory(self.index)
        if shared and self._mix.evolves and self._memory.know(distilled, self._setting.task.hash):
            told = FindingsTold(island=self.index, number=distilled.number)
            self._setting.journal.post(told)

    def revise(self, number: int, evaluation: Evaluation) -> None:
        """Take a kernel's new verdict in; cycles that have begun go on with the old one."""
        if self._memory.revise(number, evaluation):
            heard = Revised(island=self.index, kernel_id=evaluation.kernel_id, number=number)
            self._setting.journal.post(heard)

    def state(self) -> IslandState:
        done, setbacks = self._candidates.evaluations, self._setbacks
        state = island_state(self._memory.population, self.index, self._last_cycle, done)
        return replace(
            state,
            warning=setbacks.warning,
            resting=setbacks.rests.warnings,
            credit=shares_text(self._credit.shares),
        )

    def restore(self, history: Iterable[tuple[Event, Sequence[Individual]]]) -> None:
        """Replay this island's own events, each with the individuals it speaks of."""
        for event, individuals in history:
            match event:
                case (Drafted() | Added()) as tuned if tuned.cycle == 0 and tuned.slot > 0:
                    self.tuning.restore(tuned, individuals)
                case Drafted() | Added():
                    self._candidates.restore(event, individuals)
                    self.injections.restore(event)
                case Injected():
                    self.injections.give(event, *individuals)
                case Migrated():
                    self._memory.take_in(individuals)
                case Revised():
                    self._memory.revise(event.number, individuals[0].evaluation)
                case Profiled():
                    self._memory.profiles[event.kernel_id] = event.advice
                case Probed():
                    self._memory.take_answer(event)
                case Distilled():
                    self._memory.know(event, self._setting.task.hash)
                case CycleStarted():
                    self.hear(individuals)
                    self._take_heard()
                    if event.restarted:
                        self._restart()
                    idea = self.injections.take_idea(event.idea)
                    chosen = (idea.base,) if idea else self._memory.members(event.tournament)
                    drawn = Drawn(arms=event.drawn, shares=event.shares)
                    told = idea.event if idea else None
                    self._start(event.cycle, event.operator, chosen, drawn, told)
                    self._credit.begin(event)
                case CycleFinished():
                    self._close(event)
                case _:
                    pass  # selections and designs are for people to read

    # --- one cycle --------------------------------------------------------------------------

    async def _lane(self, resumed: list[Cycle]) -> str:
        try:
            for cycle in resumed:
                await self._cycle(cycle)
            while not self._ending:
                await self.pause.passed()
                await self._cycle(self._next_cycle())
        except Stopped:
            return STOPPED
        return self._ending

    @property
    def _ending(self) -> str:
        """Why no further cycle begins; empty while one does."""
        sweep = self._setting.sweep
        if sweep is not None and sweep.exhausted and not self._config.asks_models:
            return EXHAUSTED  # every kernel of the space was tried, and no model can send others
        barren = self._barren >= self._config.islands.patience
        return self._lost or ("nothing new" if barren else "")

    def _next_cycle(self) -> Cycle:
        number = self._last_cycle + 1
        if idea := self.injections.take_idea():
            heard = self._take_heard()
            cycle = self._start(number, IDEA, (idea.base,), NOTHING_DRAWN, idea.event)
            return self._tell_of(cycle.started(self.index, heard), cycle)
        rng = self._setting.rng(self.index, number, CYCLE)
        shares = self._credit.operators(number)
        operator = self._setbacks.rests.drawn(number, draw_operator(self._mix, rng, shares))
        if number <= self._asker.initial_cycles:
            operator = "initial"
        heard = self._take_heard()
        limit = self._config.islands.restart
        restarted = limit is not None and self._memory.stale >= limit and self._restart()
        size = self._config.islands.tournament_of(self._mix.kind)
        tournament = self._memory.tournament(rng, size)
        drawn = self._credit.draw(number, operator, shares)
        cycle = self._start(number, operator, tournament, drawn)
        return self._tell_of(cycle.started(self.index, heard, restarted=restarted), cycle)

    def _tell_of(self, started: CycleStarted, cycle: Cycle) -> Cycle:
        self._credit.begin(started)
        self._setting.journal.post(started)
        return cycle

    def _take_heard(self) -> tuple[str, ...]:
        """Of other islands: kernels to look up, and what models are worth. Their drafts' keys."""
        heard = self._memory.take_heard()
        for one in filter(lambda one: one.writer, heard):
            base = base_of(one, self._memory.individuals)
            told = earned(
                one,
                base=base,
                known=self._memory.individuals,
                best=None,
                spread=self._spread,
                origin=one.origin,
                role=ROLE_OF.get(one.origin, ""),
                experiment=None,
                bill=Bill.of(one),
            )
            self._credit.hear(told)
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
        way = self._setbacks.begin(number, operator)
        designer = self._designer({**drawn.arms, **way.models})
        calibration = self._calibrations.of(designer)
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
        self._last_cycle = max(self._last_cycle, number)
        return cycle

    def _lines(self, tournament: Sequence[Individual]) -> Mapping[str, float]:
        known = self._memory.individuals
        return self._credit.lines({one.id: line_of(one, known) for one in tournament})

    async def _cycle(self, cycle: Cycle) -> None:
        tally = Tally(seats=self._setting.seats())
        try:
            if not self._candidates.began(cycle.number):  # else its first questions are answered
                await tally.seats.begin(cycle.operator)
            context = partial(self._setting.context, self.index, cycle)
            if cycle.idea is not None:
                asks = [idea_ask(cycle.idea, cycle.tournament[0], self._setting.operators.writer)]
            else:
                asks = await self._asker.asks(cycle, context, tally.selected)
            slots = (self._slot(cycle, ask, tally) for ask in asks)
            await finish_all(slots, milder=Stopped)
        except Declined as declined:
            tally.decline(declined)
        finally:
            tally.seats.end()
        await self._probes.written(cycle.number)
        if not tally.new and self._setting.sweep is not None:
            await self._slot(cycle, Ask.untried(self._setting.sweep, self._memory.known), tally)
        self._settle(cycle, tally)
        self._barren = 0 if tally.new else self._barren + 1
        finished = tally.finished(self.index, cycle, asks=self._mix.kind == "llm")
        self._close(finished)
        self._lost = self._setbacks.ending
        # Waiting for the store here keeps a lane that finds nothing from running away.
        await self._setting.journal.commit(finished)

    def _settle(self, cycle: Cycle, tally: Tally) -> None:
        """What the cycle asked before its first kernel is earned with nothing."""
        bill = self._setting.bill_of_cycle(self.index, cycle.number)
        tally.asked = {**bill.models, **tally.asked}
        if bill.models:
            tally.earned.append(Earned(seconds=bill.seconds, dollars=bill.dollars))

    def _close(self, finished: CycleFinished) -> None:
        cycle = self._open.pop(finished.cycle, None)
        self._credit.take(finished)
        if cycle is None or cycle.idea is None:  # a person predicts nothing
            self._calibrations.take(self._designer(finished.asked), finished.earned)
        self._setbacks.take(finished)
        self._candidates.forget(finished.cycle)

    async def _slot(self, cycle: Cycle, ask: Ask, tally: Tally) -> None:
        """One candidate, and its repairs where it fails."""
        made: list[Individual] = []
        step: Ask | None = ask
        while step is not None:
            asked, step = step, None
            if one := await self._candidates.make(cycle, asked, tally):
                tally.judge(one)
                made.append(one)
                step = self._asker.repair(ask, made) if "repair" not in cycle.way.resting else None
            if asked.origin not in ("random", "initial"):
                tally.earned.append(self._earned(cycle, asked, one, tally, ended=step is None))

    def _earned(
        self, cycle: Cycle, ask: Ask, one: Individual | None, tally: Tally, *, ended: bool
    ) -> Earned:
        """ended: no repair follows."""
        return earned(
            one,
            base=cycle.individuals.get(ask.parents[0]) if ask.parents else None,
            known=cycle.individuals,
            best=cycle.best,
            spread=self._spread,
            origin=ask.origin,
            role=ROLE_OF.get(ask.origin, "") if self._setting.meter else "",
            experiment=ask.experiment if ended else None,
            bill=tally.bills.get(ask.slot, Bill()),
        )

    def _designer(self, models: Mapping[str, str]) -> str:
        """models: role -> name, of those that are asked."""
        return designer_of(self._config, self.index, models)

    def _note(self, cycle: int, decision: Selection | Design, *, again: bool = False) -> None:
        self._setting.journal.post(decided(self.index, cycle, decision, again=again))
