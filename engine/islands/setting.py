"""An island's setting: the campaign it belongs to, whom it asks, and how it hears of the end."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from engine.config import CampaignConfig, OperatorMix
from engine.credit.meter import Bill, Meter
from engine.islands.asker import Asker
from engine.islands.cycle import Cycle, IdeaBook, Note, ProbeAsks, RandomCandidate
from engine.islands.seats import PAID, Places, Seats
from engine.islands.tuning_batch import TuningBatch
from engine.store.events import Drafted
from engine.store.journal import Journal
from engine.store.kinds.probes import ProbeWritten
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation
from evaluators.tasks.task import Task
from operators.catalog.search_space import Sweep
from operators.individual import Candidate, Individual
from operators.operator import AskedProbe, Context, Operators, ProbesLeft


class Evaluate(Protocol):
    async def __call__(
        self, kernel_id: str, candidate: Candidate, held: bool = False
    ) -> Evaluation:
        """held: a place is held for it, which this uses up. Raises Stopped."""


class ProbeBook(Protocol):
    """All probes of a campaign; see engine.llm.probe_book."""

    async def tell(self, island: int, cycle: int) -> ProbesLeft: ...

    async def claim(self, island: int, cycle: int, number: int, asked: AskedProbe) -> bool: ...

    async def write(self, event: ProbeWritten) -> bool: ...


Send = Callable[[int, int, int, Sequence[Individual]], None]
"""(source, destination, round, elites): hand elites to another island, without waiting."""

Share = Callable[[Individual], None]
"""Tell the other islands what became of one's own, without waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What an island is given besides its place: the campaign, and whom to ask."""

    config: CampaignConfig
    task: Task
    device: DeviceInfo
    operators: Operators
    random_candidate: RandomCandidate
    journal: Journal
    evaluate: Evaluate
    send: Send
    share: Share | None = None  # None: each island has a memory of its own
    ideas: IdeaBook | None = None
    places: Places | None = None  # None: nothing is paid for, or evaluations have no budget
    evaluate_idle: Evaluate | None = None  # in idle device time; None: this island does not tune
    offer: Callable[[], None] = lambda: None  # there may be something to tune again
    probes: ProbeBook | None = None  # None: designers ask for none
    measure_probe: Callable[[ProbeWritten], None] = lambda written: None  # without waiting
    meter: Meter | None = None  # of what operators ask; None: they ask nobody, or nobody counts
    sweep: Sweep | None = None  # for cycles that find nothing new; None: they stay without

    def asker(self, mix: OperatorMix, note: Note, probes: ProbeAsks) -> Asker:
        return Asker(
            operators=self.operators,
            random_candidate=self.random_candidate,
            mix=mix,
            note=note,
            tuning=TuningBatch(self.operators.tuner) if self.operators.tuner else None,
            ideas=self.ideas if mix.evolves else None,
            probes=probes,
        )

    def bill(self, key: str) -> Bill:
        """What a draft cost in models, by its key; told once."""
        return self.meter.slot(key) if self.meter else Bill()

    def bill_of_cycle(self, island: int, cycle: int) -> Bill:
        """Of what it asked besides drafts; told once."""
        return self.meter.cycle(f"i{island}/c{cycle}") if self.meter else Bill()

    def hand_in(self, drafts: Iterable[Drafted]) -> asyncio.Future[list[Any]]:
        """Have evaluated what is paid for; cycles ask for it again. Not to be waited for."""
        paid = (one for one in drafts if self.places is not None and one.origin in PAID)
        calls = (self.evaluate(one.kernel_id, one.candidate) for one in paid)
        return asyncio.gather(*calls, return_exceptions=True)

    def seats(self) -> Seats:
        """Of a new cycle."""
        return Seats(self.places)

    def rng(self, island: int, cycle: int, place: int) -> np.random.Generator:
        """place: see engine.islands.cycle."""
        return np.random.default_rng((self.config.seed, island, cycle, place))

    def context(self, island: int, cycle: Cycle, place: int, name: str) -> Context:
        """What an operator is told; place and name: see MakeContext."""
        return Context(
            task=self.task,
            device=self.device,
            rng=self.rng(island, cycle.number, place),
            island=island,
            cycle=cycle.number,
            key=f"i{island}/c{cycle.number}/{name}",
            individuals=cycle.individuals,
            profiles=cycle.profiles,
            knowledge=cycle.knowledge,
            tuned=cycle.tuned,
            pending=cycle.pending,
            trouble=cycle.way.trouble,
            models=cycle.models(self.rng(island, cycle.number, place).spawn(1)[0]),
            resting=cycle.way.resting,
            avenue=cycle.drawn.avenue,
            lines=cycle.lines,
        )
