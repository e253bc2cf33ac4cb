"""The protocols: operators output new candidates when passed parents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from evaluators.device_info import DeviceInfo
from evaluators.tasks.task import Task
from operators.finding import Finding
from operators.individual import Candidate, Experiment, Idea, Individual


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """An experiment that was designed again: it, and the earlier one's name and words."""

    experiment: Experiment
    technique: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What a campaign has learned, a sentence each; the most worth knowing first.

    measured: answers of probes on this class of device. findings: rules that results bear out.
    calibration: to a designer, how its predictions came out; empty while that is not known.
    brought: rules of other campaigns that still stand, for operators that read no sentences.
    """

    measured: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    calibration: str = ""
    brought: tuple[Finding, ...] = ()


NOTHING_LEARNED = Knowledge()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedProbe:
    """A question that a designer wants measured. rubric: how, in steps."""

    question: str
    rubric: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbesLeft:
    """What a designer may ask for. count: probes that the campaign has left; asked: questions of
    before, on all islands."""

    count: int
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What every operator is told besides its parents.

    rng is keyed by (campaign seed, island, cycle, slot), so a decision can be recomputed.
    key names the call for the store: the same key always means the same question.
    profiles: a profiler's advice, by kernel id, of the few kernels that it looked at.
    rationale: to a designer, why a model chose the Base and the Reference. repeated: what the
    same designer has just designed, and somebody had tried before. claimed: ideas that had gone
    to a writer, on all islands that tell each other. trouble: role -> what was wrong with its
    last replies, where none could be used for some cycles; models: role -> the name of a model
    that is asked in place of its own; resting: roles that are not asked. tuned: mutations that
    were measured in idle device time and are no members, by id; None where nobody tunes. pending:
    what the island waits for. probes: to a designer, None where it can't ask for any. avenue: the
    direction that a designer is told to look at first; "": its usual ones. lines: kernel id -> how
    much sooner than by rank it is to be a Base, where that is not 1.
    """

    task: Task
    device: DeviceInfo
    rng: np.random.Generator
    island: int
    cycle: int
    key: str
    individuals: Mapping[str, Individual] = field(default_factory=dict)  # the island's, by id
    knowledge: Knowledge = NOTHING_LEARNED
    profiles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rationale: str = ""
    repeated: tuple[Repeat, ...] = ()
    claimed: tuple[Idea, ...] = ()
    trouble: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    resting: frozenset[str] = frozenset()
    tuned: Mapping[str, Individual] | None = None
    pending: tuple[Candidate, ...] = ()
    probes: ProbesLeft | None = None
    avenue: str = ""
    lines: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Base: what is changed next. Reference: what comparing with it teaches.

    in_vain: why a model that was asked did not decide; empty where it did, or nobody was asked.
    """

    base_id: str
    reference_id: str
    rationale: str
    decided_by: Literal["model", "tournament"]
    in_vain: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    avenues: tuple[str, ...]
    experiments: tuple[Experiment, ...]
    probes: tuple[AskedProbe, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A candidate not yet evaluated, and what its writer says it did."""

    candidate: Candidate
    report: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """A draft that is its parent with other parameters."""

    parent: Individual
    draft: Draft


class Declined(Exception):
    """An operator has nothing to offer for these parents; one sentence says why."""


class InVain(Declined):
    """A model was asked in vain. reason: why there is no answer, or what was wrong with it."""

    def __init__(self, role: str, reason: str, *, told: str = "") -> None:
        super().__init__(f"{role}: {told}{reason}")
        self.role = role
        self.reason = reason or "no reason is given"


class Unusable(InVain):
    """A model's replies could not be used. reason: what was wrong with the last."""

    def __init__(self, role: str, reason: str, *, replies: int) -> None:
        many = "two" if replies == 2 else str(replies)
        super().__init__(role, reason, told=f"{many} replies could not be used, the last: ")


class Selector(Protocol):
    async def select(self, tournament: Sequence[Individual], context: Context) -> Selection:
        """tournament: passed individuals, best first, at least one."""


class Designer(Protocol):
    async def design(self, base: Individual, reference: Individual, context: Context) -> Design:
        """Raises Declined."""


class Writer(Protocol):
    async def write(
        self, base: Individual, reference: Individual, experiment: Experiment, context: Context
    ) -> Draft:
        """Raises Declined."""


class Crossover(Protocol):
    async def cross(self, first: Individual, second: Individual, context: Context) -> Draft:
        """Raises Declined."""


class Mutator(Protocol):
    """Changes parameters within a kernel's own space."""

    async def mutate(self, parent: Individual, context: Context) -> Draft:
        """Raises Declined."""


class Tuner(Protocol):
    """Chooses parameters within kernels' own spaces by all that was measured there."""

    async def tune(
        self, parents: Sequence[Individual], count: int, context: Context
    ) -> Sequence[Mutation]:
        """Up to `count` points of one of the parents' spaces. Raises Declined."""


class Initial(Protocol):
    """A first generation, so many kernels of it on one island."""

    def __len__(self) -> int: ...

    def draft(self, number: int) -> Draft:
        """The number-th, from 0. Raises Declined."""

    def experiment(self, number: int) -> Experiment | None:
        """What it changes of the naive seed; None: it is no change of that."""


class Repairer(Protocol):
    async def repair(self, failed: Individual, context: Context) -> Draft:
        """failed: a candidate that did not pass. Raises Declined."""


class Prober(Protocol):
    async def write_probe(self, asked: AskedProbe, base: Individual, context: Context) -> str:
        """The text of a probe file that answers the question. Raises Declined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operators:
    """One island's set. A missing repairer means that failures are only learned from, a missing
    tuner that nobody tunes, a missing initial design that all begins at the naive seed, and a
    missing prober that nothing is asked of devices but kernels."""

    selector: Selector
    designer: Designer
    writer: Writer
    crossover: Crossover
    mutator: Mutator
    repairer: Repairer | None = None
    tuner: Tuner | None = None
    initial: Initial | None = None
    prober: Prober | None = None


def choose_experiments(experiments: Sequence[Experiment], count: int = 3) -> list[Experiment]:
    """The paper's rule, without replacement: most innovative, highest maximum, highest minimum.

    Further places go round the same three criteria. Ties fall to the earlier experiment.
    """
    criteria = (
        lambda e: e.innovation,
        lambda e: e.performance[1],
        lambda e: e.performance[0],
    )
    left = list(experiments)
    chosen: list[Experiment] = []
    while left and len(chosen) < count:
        criterion = criteria[len(chosen) % len(criteria)]
        best = max(left, key=criterion)
        left.remove(best)
        chosen.append(best)
    return chosen
