"""What a campaign's log is made of: one frozen class a kind of event, and its row in the store."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, get_args

from pydantic import TypeAdapter

from engine.store.event_body import body_of
from engine.store.kinds.calls import CallEvent
from engine.store.kinds.contests import ContestEvent
from engine.store.kinds.credit import Earned
from engine.store.kinds.findings import FindingEvent
from engine.store.kinds.ideas import IdeaEvent
from engine.store.kinds.probes import ProbeEvent
from engine.store.kinds.profiles import ProfileEvent
from engine.store.kinds.revisions import RevisionEvent
from engine.store.kinds.sessions import SessionEvent
from engine.store.kinds.steering import SteeringEvent
from engine.store.kinds.task import TaskKept
from evaluators.evaluation import Evaluation
from operators.individual import Candidate, Experiment, Individual, Origin
from operators.operator import Design, Selection

Row = tuple[str, str, int | None, int | None, str]
"""kind, key, island, cycle, body (JSON). (kind, key) is unique: appending twice adds once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleStarted:
    """An island begins a cycle, looking at these members of its population, best first.

    heard: the keys of drafts on other islands that it was told of since it began the one before.
    restarted: its population had begun again, with the most diverse of what it knew. idea: the
    number of the Injected that it tries; 0: it tries an operator's. drawn: by credit, choice ->
    arm; shares: the chance that each arm had, the operators' among them.
    """

    kind: ClassVar[str] = "cycle_started"
    island: int
    cycle: int
    operator: str
    tournament: tuple[str, ...]
    heard: tuple[str, ...] = ()
    restarted: bool = False
    idea: int = 0
    drawn: Mapping[str, str] = field(default_factory=dict)
    shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"i{self.island}/c{self.cycle}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    kind: ClassVar[str] = "selected"
    island: int
    cycle: int
    selection: Selection

    @property
    def key(self) -> str:
        return f"i{self.island}/c{self.cycle}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Designed:
    """again: the first design of the cycle held nothing new, and another one was asked for."""

    kind: ClassVar[str] = "designed"
    island: int
    cycle: int
    design: Design
    again: bool = False

    @property
    def key(self) -> str:
        return f"i{self.island}/c{self.cycle}" + ("/again" if self.again else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """A candidate with its lineage, stored before it is compiled; its fields as in Individual."""

    kind: ClassVar[str] = "drafted"
    island: int
    cycle: int
    slot: int
    kernel_id: str
    candidate: Candidate
    origin: Origin
    parents: tuple[str, ...] = ()  # in stores of before repairs: of a repair, the failed kernel
    repairs: str = ""
    experiment: Experiment | None = None
    report: str = ""
    writer: str = ""
    asked_s: float = 0.0
    dollars: float = 0.0

    @property
    def key(self) -> str:
        return f"i{self.island}/c{self.cycle}/s{self.slot}"

    def individual(self, evaluation: Evaluation) -> Individual:
        return Individual(
            id=self.kernel_id,
            candidate=self.candidate,
            origin=self.origin,
            parents=self.parents,
            repairs=self.repairs,
            experiment=self.experiment,
            report=self.report,
            island=self.island,
            cycle=self.cycle,
            slot=self.slot,
            writer=self.writer,
            asked_s=self.asked_s,
            dollars=self.dollars,
            evaluation=evaluation,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """A verdict on one kernel. number: 0 is the first; the latest counts.

    tuning: it counts for budgets.tuning alone, as nobody asked for it. verified: it is the naive
    seed, right on the held-out shapes too; in stores of before there were contests, any kernel
    that was the best so far.
    """

    kind: ClassVar[str] = "evaluated"
    evaluation: Evaluation
    number: int = 0
    verified: bool = False
    tuning: bool = False

    @property
    def key(self) -> str:
        return f"{self.evaluation.kernel_id}/{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """An island was told what became of one of its drafts; status: what its population did."""

    kind: ClassVar[str] = "added"
    island: int
    cycle: int
    slot: int
    kernel_id: str
    status: str

    @property
    def key(self) -> str:
        return f"i{self.island}/c{self.cycle}/s{self.slot}"

    @property
    def told_others(self) -> bool:
        """Of cycle 0 what was injected, and of mutations in idle device time those that became
        members; all know the seed."""
        of_idle_time = self.cycle == 0 and self.slot > 0
        return self.status != "NOT_ADDED" if of_idle_time else bool(self.cycle or self.slot)


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleFinished:
    """declined: one sentence for each operator that had nothing to offer.

    written: new kernels that experiments, crossovers and repairs made. lost: role -> what was
    wrong with its last reply, of a cycle that came to nothing because none could be used. step:
    how it asked; see engine.islands.setbacks. answers: role -> why it was asked in vain, empty
    where a reply was of use; of the roles in engine.islands.rests. asked: role -> the name of the
    model that it asked last. earned: what became of each kernel that was asked for.
    """

    kind: ClassVar[str] = "cycle_finished"
    island: int
    cycle: int
    duplicates: int = 0
    declined: tuple[str, ...] = ()
    written: int = 0
    lost: Mapping[str, str] = field(default_factory=dict)
    step: int = 0
    answers: Mapping[str, str] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)
    earned: tuple[Earned, ...] = ()

    @property
    def key(self) -> str:
        return f"i{self.island}/c{self.cycle}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """An island received elites. drafts: the keys of the events that drafted them."""

    kind: ClassVar[str] = "migrated"
    island: int
    source: int
    round: int
    drafts: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"i{self.source}>i{self.island}/r{self.round}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochStarted:
    """A new anchor. link: ln(previous anchor time / this one's), paired, by workload label.

    Without a link it is the naive seed, at which a chain of anchors begins: at first, and when
    harness or compiler is another one. device_s: how long measuring the link took.
    """

    kind: ClassVar[str] = "epoch_started"
    number: int
    anchor_id: str
    link: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    device_s: float = 0.0

    @property
    def key(self) -> str:
        return str(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Broken infrastructure: never a verdict on a kernel."""

    kind: ClassVar[str] = "fault"
    session: int
    number: int
    where: str
    message: str
    kernel_id: str = ""

    @property
    def key(self) -> str:
        return f"{self.session}/{self.number}"


Event = (
    SessionEvent
    | CycleStarted
    | Selected
    | Designed
    | Drafted
    | Evaluated
    | Added
    | CycleFinished
    | Migrated
    | EpochStarted
    | Fault
    | CallEvent
    | ContestEvent
    | IdeaEvent
    | ProbeEvent
    | ProfileEvent
    | RevisionEvent
    | SteeringEvent
    | FindingEvent
    | TaskKept
)


KINDS: Mapping[str, type[Event]] = {kind.kind: kind for kind in get_args(Event)}


@cache
def _adapter(kind: str) -> TypeAdapter[Event]:
    return TypeAdapter(KINDS[kind])


def to_row(event: Event) -> Row:
    """The event as the store keeps it; from_row is the inverse."""
    island, cycle = getattr(event, "island", None), getattr(event, "cycle", None)
    return event.kind, event.key, island, cycle, body_of(event)


def from_row(kind: str, body: str) -> Event:
    return _adapter(kind).validate_json(body)
