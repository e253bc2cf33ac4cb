"""One island: cycles of ask, evaluate and tell over its own population; a plain class."""

import asyncio
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from engine.credit.told import shares_text
from engine.ending import Stopped
from engine.gate import Gate
from engine.islands.candidates import Candidates
from engine.islands.cycle import Ask, Cycle, decided, finish_all
from engine.islands.cycles import Cycles
from engine.islands.injections import Injections, idea_ask
from engine.islands.memory import Memory
from engine.islands.population import island_state
from engine.islands.probes import Probes
from engine.islands.setting import Setting
from engine.islands.tally import Tally
from engine.islands.tuning import Tuning
from engine.snapshot import IslandState
from engine.store.events import Added, CycleFinished, CycleStarted, Drafted, Event, Migrated
from engine.store.kinds.findings import Distilled, FindingsTold
from engine.store.kinds.probes import Probed, ProbeHeard
from engine.store.kinds.profiles import Learned, Profiled
from engine.store.kinds.revisions import Revised
from engine.store.kinds.steering import Injected
from evaluators.evaluation import Evaluation
from operators.individual import Candidate, Individual
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
        self._barren = 0  # cycles in a row without a new kernel
        self._lost = ""  # why it ends, where no reply could be used
        self._wanted = setting.config.islands.lanes
        self._lanes: list[asyncio.Task[str]] = []
        self._probes = Probes(index, setting)
        self._asker = setting.asker(self._mix, self._note, self._probes)
        self._cycles = Cycles(
            index,
            setting,
            self._memory,
            self._candidates,
            self.injections,
            self._asker.initial_cycles,
        )
        self._earnings = self._cycles.earnings

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
        resumed, lanes = self._cycles.open, self._wanted
        self.injections.start()
        self._lanes = [asyncio.create_task(self._lane(resumed[i::lanes])) for i in range(lanes)]
        endings: list[str] = []
        while len(endings) < len(self._lanes):  # more may begin meanwhile
            endings = await asyncio.gather(*self._lanes)
        await self.injections.ended()
        return endings[0]

    def widen(self, devices: float, fed: float) -> None:
        """Have more cycles under way from now on, never fewer than before.

        devices: how many times as many there are as were foreseen; fed: how many times the usual
        cycles they need. A model's replies cost what they cost: islands that wait for them are
        not fed.
        """
        factor = devices * (1.0 if self._mix.kind == "llm" else fed)
        self._wanted = max(self._wanted, math.ceil(self._config.islands.lanes * factor))
        for _ in range(len(self._lanes), self._wanted if self._lanes else 0):
            self._lanes.append(asyncio.create_task(self._lane([])))

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
        done, setbacks = self._candidates.evaluations, self._cycles.setbacks
        state = island_state(self._memory.population, self.index, self._cycles.last, done)
        return replace(
            state,
            warning=setbacks.warning,
            resting=setbacks.rests.warnings,
            credit=shares_text(self._cycles.credit.shares),
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
                    self._cycles.restore(event)
                case CycleFinished():
                    self._cycles.close(event)
                case _:
                    pass  # selections and designs are for people to read

    # --- one cycle --------------------------------------------------------------------------

    async def _lane(self, resumed: list[Cycle]) -> str:
        try:
            for cycle in resumed:
                await self._cycle(cycle)
            while not self._ending:
                await self.pause.passed()
                await self._cycle(self._cycles.next())
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
        self._earnings.settle(cycle, tally)
        self._barren = 0 if tally.new else self._barren + 1
        finished = tally.finished(self.index, cycle, asks=self._mix.kind == "llm")
        self._cycles.close(finished)
        self._lost = self._cycles.setbacks.ending
        # Waiting for the store here keeps a lane that finds nothing from running away.
        await self._setting.journal.commit(finished)

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
                self._earnings.count(cycle, asked, one, tally, ended=step is None)

    def _note(self, cycle: int, decision: Selection | Design, *, again: bool = False) -> None:
        self._setting.journal.post(decided(self.index, cycle, decision, again=again))
