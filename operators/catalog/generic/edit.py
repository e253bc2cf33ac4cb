"""Edit: one change that a technique may make to a kernel, and its words and predictions."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.reading import Reading
from operators.catalog.technique import Range

Place = dict[str, str | int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """place: which of its technique's edits it is, so that it can be made again; text: the file
    that it leads to."""

    place: Mapping[str, str | int]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenericTechnique:
    """find: all edits of it that a kernel admits, each likely to be right, none certainly.

    cpu, gpu: expected uplift [min, max] in percent; None: not for such a device. innovation:
    0..100.
    """

    name: str
    find: Callable[[Reading, Task], Iterator[Edit]]
    avenue: str
    rubric: str
    cpu: Range | None
    gpu: Range | None
    innovation: int
