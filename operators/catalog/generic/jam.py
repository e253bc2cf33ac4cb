"""Outputs a thread: each computes several, with the loops over them innermost ("unroll and jam").

Threads without barriers may run in any order, so several of them may take turns in one, statement
by statement. Loops that all of them go through together are then shared: what they read together
is read once, and neighbouring outputs become a vector.
"""

from collections.abc import Iterator

from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.guards import independent
from operators.catalog.generic.analysis.indices import Index, alone, index_of
from operators.catalog.generic.analysis.locals import Locals, statements
from operators.catalog.generic.analysis.reading import Function, Reading, Unsure
from operators.catalog.generic.edit import Edit, Place
from operators.catalog.generic.jammed import Jammed


def outputs_a_thread(reading: Reading, task: Task) -> Iterator[Edit]:
    """Neighbouring outputs: each thread computes a run of them."""
    yield from _edits(reading, apart=False)


def outputs_apart(reading: Reading, task: Task) -> Iterator[Edit]:
    """Outputs a block's width apart, so that neighbouring threads stay at neighbouring ones."""
    yield from _edits(reading, apart=True)


def _edits(reading: Reading, *, apart: bool) -> Iterator[Edit]:
    for function in reading.kernels:
        for place in _places(reading, function):
            if apart and not place.threads:
                continue
            for count in (4,) if apart else (16, 4):
                try:
                    text = Jammed(reading, function, place, apart=apart).text(count)
                except Unsure:
                    break
                named: Place = {"kernel": function.name, "index": place.local.name}
                yield Edit(place={**named, "count": count}, text=text)


def _places(reading: Reading, function: Function) -> list[Index]:
    try:
        if not independent(reading, function):
            return []
        locals = Locals(reading, function)
        found = []
        for node in statements(function.body):
            if node.type == "declaration":
                for local in locals.of(node):
                    index = index_of(reading, local, reading.launched[function.name])
                    if index is not None and alone(reading, locals, index):
                        found.append(index)
    except Unsure:
        return []
    return found
