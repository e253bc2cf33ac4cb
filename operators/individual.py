"""What operators pass on: Candidate, Experiment, Individual."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from evaluators.evaluation import Evaluation
from evaluators.spelling import storable

Made = Literal["seed", "initial", "experiment", "crossover", "mutation", "repair", "random"]
Origin = Made | Literal["injected", "carried"]
"""Injected: a person put it in; carried: it was another campaign's, or is a further seed of the
task."""

BY_A_PERSON = "idea-by-a-person"
"""The technique of an experiment that a person thought of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something to evaluate. Format "hip" is one kernel file, under the name "kernel.hip".

    Files hold what UTF-8 can: a lone surrogate of a model's reply becomes U+FFFD.
    """

    files: Mapping[str, str]
    params: Mapping[str, int] = field(default_factory=dict)
    format: str = "hip"

    def __post_init__(self) -> None:
        files = {name: storable(text) for name, text in self.files.items()}
        object.__setattr__(self, "files", files)

    @classmethod
    def from_source(cls, source: str) -> Self:
        return cls(files={"kernel.hip": source})

    @property
    def source(self) -> str:
        return self.files["kernel.hip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One planned change, with its prediction (arXiv 2506.20807, section on the Designer).

    performance: expected uplift [min, max] in percent of the Base's speed. new: what is new
    against the most similar experiment of before, in the designer's words.
    innovation: 0..100. technique: a short stable name; params: what a catalogue
    writer needs to realise it, empty when the rubric is all there is.
    """

    technique: str
    description: str
    rubric: str
    performance: tuple[float, float]
    innovation: int
    avenue: str = ""
    new: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def by_a_person(self) -> bool:
        """Then nobody predicted what it brings."""
        return self.technique == BY_A_PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """An experiment's name and words. key: which draft it became or may become; island: whose."""

    key: str
    technique: str
    description: str
    rubric: str = ""
    island: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Individual:
    """A candidate with where it came from and what became of it.

    writer: the name of the model that wrote it; asked_s, dollars: what its replies took.
    """

    id: str  # the kernel id; for a candidate that does not parse, the hash of its text
    candidate: Candidate
    origin: Origin
    parents: tuple[str, ...] = ()  # Base first, then Reference or second parent
    repairs: str = ""  # of a repair: id of the kernel that failed, which has the same parents
    experiment: Experiment | None = None
    report: str = ""  # what the writer says it really did
    island: int = 0
    cycle: int = 0
    slot: int = 0  # which of the cycle's candidates
    writer: str = ""
    asked_s: float = 0.0
    dollars: float = 0.0
    evaluation: Evaluation

    @property
    def in_idle_time(self) -> bool:
        """Whether it is a mutation of no cycle: nobody asked for it, a device was idle."""
        return self.origin == "mutation" and self.cycle == 0
