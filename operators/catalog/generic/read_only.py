"""Read-only loads: what a kernel only reads is constant, unaliased, and read by __ldg."""

import re
from collections.abc import Iterator

from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.locals import Locals
from operators.catalog.generic.analysis.pointers import Pointers, distinct, told_once
from operators.catalog.generic.analysis.reading import Function, Reading, Unsure
from operators.catalog.generic.edit import Edit
from operators.catalog.generic.front import Front

_LOADED = re.compile(
    r"(?:(?:float|double|int|uint|u?char|u?short)[24]?|unsigned(?: int)?"
    r"|(?:unsigned )?long(?: long)?|u?int(?:8|16|32|64)_t"
    r"|__half2?|half2?|__hip_bfloat162?|__nv_bfloat162?)"
)
"""Types that __ldg takes on every backend."""

_DTYPES = frozenset({"float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32"})
"""The same of dtype parameters."""


def read_only_loads(reading: Reading, task: Task) -> Iterator[Edit]:
    """All pointers of all kernels through which nothing is written."""
    edits: list[tuple[int, int, str]] = []
    for function in reading.kernels:
        if distinct(reading, function) and told_once(reading, function):
            edits += _of_kernel(reading, function, task)
    if edits:
        try:
            yield Edit(place={}, text=Front(reading.kernel).written(reading.code(edits)))
        except Unsure:
            return


def _of_kernel(reading: Reading, function: Function, task: Task) -> Iterator[tuple[int, int, str]]:
    try:
        pointers = Pointers(reading, function, Locals(reading, function))
    except Unsure:
        return
    for name, parameter in pointers.parameters.items():
        own = pointers.of(name)
        locals_of_it = [key for key, root in pointers.local.items() if root == name]
        if name in pointers.strays or not own or any(one.written for one in own):
            continue
        constant = pointers.is_constant(name)
        if not all(map(pointers.is_constant, locals_of_it)):
            continue
        if not _is_loaded(pointers.type(name), task):
            continue
        if not constant:
            start = parameter.node.parent.parent.start_byte
            yield start, start, "const "
        at = parameter.node.start_byte
        if b"restrict" not in reading.data[parameter.node.parent.start_byte : at]:
            yield at, at, "__restrict__ "
        for one in (one for one in own if one.node.type == "subscript_expression"):
            yield one.node.start_byte, one.node.start_byte, "__ldg(&"
            yield one.node.end_byte, one.node.end_byte, ")"


def _is_loaded(kind: str, task: Task) -> bool:
    dtypes = task.dtypes.get(kind)
    return set(dtypes) <= _DTYPES if dtypes else _LOADED.fullmatch(kind) is not None
