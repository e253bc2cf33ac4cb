"""Parts: a long reduction of each thread is cut into parts, which other blocks do at the same time;
a second launch joins them and goes on."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evaluators.device_info import BACKENDS, target_of
from evaluators.evaluation import Rejected
from evaluators.kernel.front_matter import Launch
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.guards import independent
from operators.catalog.generic.analysis.indices import fields
from operators.catalog.generic.analysis.locals import LOOPS, Locals
from operators.catalog.generic.analysis.loops import (
    Counting,
    Reduction,
    body_of,
    counting,
    reductions,
    start_of,
)
from operators.catalog.generic.analysis.pointers import Pointers, distinct, told_once
from operators.catalog.generic.analysis.reading import Function, Reading, Unsure, indented, walk
from operators.catalog.generic.edit import Edit
from operators.catalog.generic.front import Front
from operators.catalog.generic.lanes import type_of

VALUES = (1, 2, 4, 8, 16, 32, 64)
FIRST = (4, 16)
MOST_BYTES = 1 << 30
"""Of partial results on any shape: more of them are traffic of their own."""

_BYTES: Mapping[str, int] = {"float": 4, "int": 4, "unsigned": 4, "unsigned int": 4, "double": 8}
_NEUTRAL = {"+": "0", "*": "1"}


def parts_of_reductions(reading: Reading, task: Task) -> Iterator[Edit]:
    """Of kernels whose one loop reduces, and that write nothing before its end."""
    for function in reading.kernels:
        for parts in FIRST:
            try:
                text = _Cut(reading, function).text(parts)
            except Unsure:
                break
            if not _is_small(text, task):
                break
            yield Edit(place={"kernel": function.name, "parts": parts}, text=text)


def _is_small(text: str, task: Task) -> bool:
    kernel = parse_kernel(text)
    try:
        plans = [
            kernel.plan(task, workload, target_of(backend))
            for suite in ("tests", "benchmarks")
            for backend in BACKENDS
            for workload in task.workloads(suite, backend)
        ]
    except Rejected:
        return False
    return all(sum(plan.scratch.values()) <= MOST_BYTES for plan in plans)


class _Cut:
    """One kernel. Raises Unsure where it is of another form."""

    def __init__(self, reading: Reading, function: Function) -> None:
        self._reading, self._function = reading, function
        alone = distinct(reading, function) and told_once(reading, function)
        launches = reading.launched[function.name]
        if len(launches) != 1 or not alone or not independent(reading, function):
            raise Unsure
        self._launch: Launch = launches[0]
        if self._launch.cooperative or _asks_for_z(reading, function):
            raise Unsure
        deep = [*self._launch.grid[2:], *self._launch.block[2:]]
        if any(part.text.strip() != "1" for part in deep):
            raise Unsure
        self._locals = Locals(reading, function)
        self._loop, self._reduced = self._only_loop()
        self._check_writes()
        free = reading.free_name
        self._count, self._buffer = free("PARTS"), free("parts")
        self._partial, self._name = free("partial"), free(f"{function.name}_parts")
        self._all, self._thread = free("threads"), free("thread")

    def _only_loop(self) -> tuple[Counting, list[Reduction]]:
        """The outermost loop, of which there must be one, and what it reduces."""
        loops = [one for one in walk(self._function.body) if one.type in LOOPS]
        loop = counting(self._locals, loops[0]) if loops else None
        if loop is None or loop.comparison != "<" or loop.step != "1":
            raise Unsure
        if any(one.end_byte > loop.node.end_byte for one in loops[1:]):
            raise Unsure
        if loop.start.strip() != "0" and not re.fullmatch(r"(?:const )?(?:int|long)", loop.type):
            raise Unsure
        reduced = reductions(self._locals, loop)
        if not reduced or loop.node.parent.type != "compound_statement":
            raise Unsure
        kinds = {self._type(one) for one in reduced}
        if len(kinds) != 1 or not kinds <= _BYTES.keys():
            raise Unsure
        return loop, reduced

    def _type(self, one: Reduction) -> str:
        return type_of(self._reading, self._locals.declared[one.key].statement)

    def _check_writes(self) -> None:
        """All that is written is written after the loop, in its own block."""
        pointers = Pointers(self._reading, self._function, self._locals)
        first, last = self._loop.node.end_byte, self._loop.node.parent.end_byte
        odd = {one.name for one in self._function.parameters if one.pointer} - set(
            pointers.parameters
        )
        strays = {one for one in pointers.strays if not pointers.is_constant(one)}
        outside = [
            one
            for one in pointers.accesses
            if one.written and not first <= one.node.start_byte < last
        ]
        if odd or strays or outside or self._locals.asks_atomics(self._function.body):
            raise Unsure

    def text(self, parts: int) -> str:
        """The whole file."""
        reading, function = self._reading, self._function
        front = Front(reading.kernel)
        front.add(self._count, parts, VALUES)
        (own,) = front.of(function.name)
        sizes = [*_listed(own["grid"]), *_listed(own["block"])]
        total = " * ".join(f"({one})" for one in sizes if str(one) != "1") or "1"
        size = _BYTES[self._type(self._reduced[0])] * len(self._reduced)
        front.scratch[self._buffer] = f"{size} * {self._count} * {total}"
        own["args"] = [*own["args"], self._buffer]
        grid = (*_listed(own["grid"]), 1, 1)[:2]
        template = str(own["kernel"]).partition("<")
        name = f"{self._name}{template[1]}{template[2]}"
        first = {**own, "kernel": name, "grid": [*grid, self._count]}
        front.launches.insert(front.launches.index(own), first)
        return front.written(self._code())

    def _code(self) -> str:
        """The kernel of the parts, then the kernel itself, which joins them."""
        reading, loop, body = self._reading, self._loop, self._function.body
        whole = self._function.node
        if whole.parent.type == "template_declaration":
            whole = whole.parent
        name = self._function.name_node
        marked = reading.data.rfind(b"__global__", 0, name.start_byte)
        if whole.parent.type != "translation_unit" or marked < 0:
            raise Unsure
        at = self._function.end_of_parameters
        further = (at, at, f", {self._type(self._reduced[0])}* {self._buffer}")
        renamed = (name.start_byte, name.end_byte, self._name)
        start = start_of(reading, loop.node)
        part = (start, loop.node.parent.end_byte - 1, self._part())
        joined = (start, loop.node.end_byte, self._joined())
        begin = min(marked, whole.start_byte)
        texts = [
            reading.replaced(begin, body.start_byte, heads)
            + indented(reading.replaced(body.start_byte, body.end_byte, [edit]))
            for heads, edit in (([further, renamed], part), ([further], joined))
        ]
        return reading.code([(begin, body.end_byte, "\n\n".join(texts))])

    def _slot(self, place: int, part: str) -> str:
        """Where a thread's part of one reduction lies."""
        many = len(self._reduced)
        row = f"({part} * {many} + {place})" if many > 1 else part
        return f"{self._buffer}[(size_t){row} * {self._all} + {self._thread}]"

    def _numbers(self) -> list[str]:
        """How many threads there are, and the number of one."""
        return [
            f"const int {self._thread} = (blockIdx.y * gridDim.x + blockIdx.x) * "
            "(blockDim.x * blockDim.y) + threadIdx.y * blockDim.x + threadIdx.x;",
            f"const int {self._all} = gridDim.x * gridDim.y * blockDim.x * blockDim.y;",
        ]

    def _part(self) -> str:
        loop, names, before, after = self._loop, {}, [], []
        for place, one in enumerate(self._reduced):
            local = self._locals.declared[one.key]
            own = self._reading.free_name(f"{local.name}_part")
            names[one.key] = own
            neutral = _NEUTRAL.get(one.kind, local.name)
            before.append(f"{self._type(one)} {own} = {neutral};")
            after.append(f"{self._slot(place, 'blockIdx.z')} = {own};")
        kind = re.sub(r"\bconst\b", "", loop.type).strip()
        start, bound, name = f"({loop.start})", f"({self._reading.text(loop.bound)})", loop.name
        length, first, end = (
            self._reading.free_name(f"{name}_{word}") for word in ("length", "first", "end")
        )
        return "\n".join(
            [
                *self._numbers(),
                *before,
                f"const {kind} {length} = ({bound} - {start} + {self._count} - 1) / {self._count};",
                f"const {kind} {first} = {start} + ({kind})blockIdx.z * {length};",
                f"const {kind} {end} = "
                f"{first} + {length} < {bound} ? {first} + {length} : {bound};",
                f"for ({kind} {name} = {first}; {name} < {end}; ++{name}) {{",
                *(self._locals.with_names(one, names) for one in body_of(loop)),
                "}",
                *after,
                "return;",
                "",
            ]
        )

    def _joined(self) -> str:
        lines = []
        for place, one in enumerate(self._reduced):
            name, slot = self._locals.declared[one.key].name, self._slot(place, self._partial)
            plain = one.kind in _NEUTRAL
            value = f"{name} {one.kind} {slot}" if plain else f"{one.kind}({name}, {slot})"
            lines.append(f"{name} = {value};")
        head = f"for (int {self._partial} = 0; {self._partial} < {self._count}; ++{self._partial})"
        return "\n".join(["{", *self._numbers(), f"{head} {{", *lines, "}", "}"])


def _listed(sizes: Any) -> list[Any]:
    return sizes if isinstance(sizes, list) else [sizes]


def _asks_for_z(reading: Reading, function: Function) -> bool:
    """Itself, or a function that it may call."""
    others = [one for name, one in reading.functions.items() if name not in reading.launched]
    return any(axis == "z" for one in (function, *others) for _, axis, _ in fields(one.node))
