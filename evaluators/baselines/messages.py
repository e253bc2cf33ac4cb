"""What a process that runs baselines on the host is asked, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass

from evaluators.evaluation import Rejected
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

Span = tuple[int, int]
"""Where an argument lies in the memory: its first byte, and how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Memory that the parent has: a descriptor of its own, as a path. number: names it."""

    number: int
    path: str
    nbytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A memory that is not needed any more, and all that was made for it."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Apply the baseline to each binding, and put results in place. bindings: spans by argument."""

    memory: int
    task: Task
    workload: Workload
    bindings: tuple[Mapping[str, Span], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """taken_us: of processor time, of all threads; what placing the results took is not in it."""

    taken_us: float = 0.0
    rejected: Rejected | None = None


Request = Share | Drop | Run
