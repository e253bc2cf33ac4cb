"""Compositions: edits that bring little by themselves, and much together."""

from collections.abc import Callable, Iterator

from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.reading import Reading, reading
from operators.catalog.generic.blocks import one_thread
from operators.catalog.generic.edit import Edit
from operators.catalog.generic.jam import outputs_a_thread
from operators.catalog.generic.lanes import independent_accumulators
from operators.catalog.generic.vectors import vector_loops

OUTPUTS = 4
"""Of a thread whose elements become a vector."""

Find = Callable[[Reading, Task], Iterator[Edit]]


def one_thread_with_lanes(read: Reading, task: Task) -> Iterator[Edit]:
    """A block is one thread, whose reductions have lanes: no trees, and a row in order."""
    for first in one_thread(read, task):
        lanes = [
            second
            for second in _after(first, independent_accumulators, task)
            if second.place["loops"] == 0 and second.place["count"] == 16
        ]
        yield from (_both(first, second) for second in lanes[:1])
        if not lanes:
            yield first


def register_tiles(read: Reading, task: Task) -> Iterator[Edit]:
    """Several values of two indices a thread."""
    for first in outputs_a_thread(read, task):
        if first.place["count"] != 16:
            continue
        for second in _after(first, outputs_a_thread, task):
            other = second.place["index"] != first.place["index"]
            if (
                other
                and second.place["count"] == 4
                and second.place["kernel"] == first.place["kernel"]
            ):
                yield _both(first, second)


def wide_accesses(read: Reading, task: Task) -> Iterator[Edit]:
    """In loops that there are, and where each thread has an element, in those over several."""
    yield from vector_loops(read, task)
    for first in outputs_a_thread(read, task):
        if first.place["count"] != OUTPUTS:
            continue
        for second in _after(first, vector_loops, task):
            if second.place["width"] == OUTPUTS and second.place["loops"] == 0:
                yield _both(first, second)


def _after(first: Edit, find: Find, task: Task) -> Iterator[Edit]:
    read = reading(first.text)
    if read is not None:
        yield from find(read, task)


def _both(first: Edit, second: Edit) -> Edit:
    place = {**first.place, **{f"then {key}": value for key, value in second.place.items()}}
    return Edit(place=place, text=second.text)
