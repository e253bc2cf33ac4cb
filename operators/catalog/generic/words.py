"""Words: what compilers are told beside the code: restrict, launch bounds, unrolling, options."""

import re
from collections.abc import Iterator

from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.loops import innermost
from operators.catalog.generic.analysis.reading import (
    Function,
    Reading,
    Unsure,
    bare,
    variables,
    walk,
)
from operators.catalog.generic.edit import Edit
from operators.catalog.generic.front import Front

UNROLLED = (1, 2, 4, 8, 16)
_FLOAT = re.compile(r"\bfloat\b")


def restrict(reading: Reading, task: Task) -> Iterator[Edit]:
    """All pointers of all kernels, where no launch hands one buffer in twice."""
    edits = []
    for function in reading.kernels:
        for launch in reading.launched[function.name]:
            names = [one for one in launch.args if isinstance(one, str)]
            if len(set(names)) < len(names):
                return
        for one in function.parameters:
            before = reading.data[one.node.parent.start_byte : one.node.start_byte]
            if one.pointer and b"restrict" not in before and before.count(b"*") == 1:
                edits.append((one.node.start_byte, one.node.start_byte, "__restrict__ "))
    if edits:
        yield from _edit(reading, Front(reading.kernel), reading.code(edits), {})


def launch_bounds(reading: Reading, task: Task) -> Iterator[Edit]:
    """The most threads that its launches ask for, where they all say the same."""
    edits = []
    for function in reading.kernels:
        head = reading.data[: function.body.start_byte]
        head = head[max(head.rfind(b"}"), head.rfind(b";")) + 1 :]
        blocks = {
            " * ".join(f"({part.text})" for part in launch.block if part.text.strip() != "1")
            for launch in reading.launched[function.name]
        }
        if b"launch_bounds" in head or len(blocks) != 1:
            continue
        threads = blocks.pop() or "1"
        if set(re.findall(r"[A-Za-z_]\w*", threads)) - set(reading.kernel.params):
            continue
        name = function.node.child_by_field_name("declarator")
        while name.type != "identifier":
            name = name.child_by_field_name("declarator")
        edits.append((name.start_byte, name.start_byte, f"__launch_bounds__({threads}) "))
    if edits:
        yield from _edit(reading, Front(reading.kernel), reading.code(edits), {})


def unrolling(reading: Reading, task: Task) -> Iterator[Edit]:
    """Innermost loops without a directive of their own."""
    edits = []
    name = reading.free_name("UNROLL")
    for function in reading.kernels:
        for loop in innermost(function.body):
            line = reading.data[: loop.start_byte].rstrip().rsplit(b"\n", 1)[-1].strip()
            if loop.type == "for_statement" and not line.startswith(b"#"):
                edits.append((loop.start_byte, loop.start_byte, f"\n#pragma unroll {name}\n"))
    if not edits:
        return
    for value in (2, 8):
        front = Front(reading.kernel)
        front.add(name, value, UNROLLED)
        yield from _edit(reading, front, reading.code(edits), {"by": value})


def fast_math(reading: Reading, task: Task) -> Iterator[Edit]:
    yield from _option(reading, "-ffast-math")


def unrolled_by_the_compiler(reading: Reading, task: Task) -> Iterator[Edit]:
    yield from _option(reading, "-funroll-loops")


def _option(reading: Reading, option: str) -> Iterator[Edit]:
    if option not in reading.kernel.options:
        front = Front(reading.kernel)
        front.options.append(option)
        yield from _edit(reading, front, reading.kernel.code, {})


def reciprocals(reading: Reading, task: Task) -> Iterator[Edit]:
    """Divisions in loops by a float that no iteration changes become multiplications."""
    edits = []
    for function in reading.kernels:
        edits += [*_divisions(reading, function)]
    if edits:
        yield from _edit(reading, Front(reading.kernel), reading.code(edits), {})


def _divisions(reading: Reading, function: Function) -> Iterator[tuple[int, int, str]]:
    floats = {one.name for one in function.parameters if one.type == "float"}
    for node in walk(function.body):
        if node.type == "declaration":
            kind = node.child_by_field_name("type")
            if kind is not None and kind.text == b"float":
                floats |= {one.text.decode() for one in variables(node)}
    for loop in innermost(function.body):
        changed = {
            bare(one.child_by_field_name("left")).text.decode()
            for one in walk(loop)
            if one.type == "assignment_expression"
        } | {
            name.text.decode()
            for one in walk(loop)
            if one.type == "declaration"
            for name in variables(one)
        }
        for node in walk(loop):
            if node.type != "binary_expression" or len(node.children) < 3:
                continue
            operator, right = (
                node.child_by_field_name("operator"),
                node.child_by_field_name("right"),
            )
            plain = right.type == "identifier" and right.text.decode() in floats - changed
            if operator.type == "/" and plain:
                yield operator.start_byte, operator.end_byte, "*"
                yield right.start_byte, right.end_byte, f"(1.0f / {reading.text(right)})"


def _edit(reading: Reading, front: Front, code: str, place: dict[str, str | int]) -> Iterator[Edit]:
    try:
        yield Edit(place=place, text=front.written(code))
    except Unsure:
        return
