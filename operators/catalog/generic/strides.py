"""Strides and memory in loops: a run of its own a thread, and sums kept in registers."""

import re
from collections.abc import Iterator

from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.indices import fields
from operators.catalog.generic.analysis.locals import LOOPS, Locals
from operators.catalog.generic.analysis.loops import Counting, counting, start_of
from operators.catalog.generic.analysis.reading import Function, Node, Reading, Unsure, inside, walk
from operators.catalog.generic.edit import Edit
from operators.catalog.generic.front import Front


def own_runs(reading: Reading, task: Task) -> Iterator[Edit]:
    """Loops in which threads stride together: each goes through a run of its own instead."""
    for function in reading.kernels:
        if not reading.plain(function):
            continue
        try:
            locals = Locals(reading, function)
            loops = [one for one in _counting(locals, function) if _strides(reading, locals, one)]
            edits = [_run(reading, locals, one) for one in loops]
        except Unsure:
            continue
        if edits:
            yield from _edit(reading, function, edits, {"kernel": function.name})


def _counting(locals: Locals, function: Function) -> Iterator[Counting]:
    for node in walk(function.body):
        found = counting(locals, node) if node.type == "for_statement" else None
        if found is not None:
            yield found


def _strides(reading: Reading, locals: Locals, loop: Counting) -> bool:
    """Whether it begins at a thread's index and steps by how many threads there are."""
    if loop.step == "1" or loop.comparison != "<":
        return False
    if re.search(r"__sync|__shfl|__ballot", reading.text(loop.body)):
        return False
    head = loop.node.child_by_field_name("initializer")
    start = locals.of(head)[0].value
    asks = start is not None and _asks(locals, start, "threadIdx")
    update = loop.node.child_by_field_name("update")
    return asks and (_asks(locals, update, "blockDim") or _is_block(reading, loop.step))


def _asks(locals: Locals, node: Node, builtin: str) -> bool:
    """Itself, or by what a variable was declared as."""
    if any(name == builtin for name, _, _ in fields(node)):
        return True
    for key in locals.names(node):
        local = locals.declared.get(key)
        if local is None or local.value is None or local.statement.end_byte > node.start_byte:
            continue
        if any(name == builtin for name, _, _ in fields(local.value)):
            return True
    return False


def _is_block(reading: Reading, step: str) -> bool:
    widths = {launch.block[0].text.strip() for some in reading.launched.values() for launch in some}
    return step.strip("() ") in widths


def _run(reading: Reading, locals: Locals, loop: Counting) -> tuple[int, int, str]:
    kind = re.sub(r"\bconst\b", "", loop.type).strip()
    run, end = reading.free_name(f"{loop.name}_run"), reading.free_name(f"{loop.name}_end")
    first = reading.free_name(f"{loop.name}_first")
    bound = reading.text(loop.bound)
    text = "\n".join(
        [
            "{",
            f"const {kind} {run} = (({bound}) + ({loop.step}) - 1) / ({loop.step});",
            f"const {kind} {first} = ({loop.start}) * {run};",
            f"const {kind} {end} = {first} + {run} < ({bound}) ? {first} + {run} : ({bound});",
            f"for ({kind} {loop.name} = {first}; {loop.name} < {end}; ++{loop.name})",
            reading.text(loop.body),
            "}",
        ]
    )
    return start_of(reading, loop.node), loop.node.end_byte, text


def register_sums(reading: Reading, task: Task) -> Iterator[Edit]:
    """y[i] += e in a loop that leaves y[i] alone otherwise: added up in a register."""
    for function in reading.kernels:
        try:
            locals = Locals(reading, function)
            edits = [*_sums(reading, locals, function)]
        except Unsure:
            continue
        if edits:
            yield from _edit(reading, function, edits, {"kernel": function.name})


def _sums(reading: Reading, locals: Locals, function: Function) -> Iterator[tuple[int, int, str]]:
    for loop in walk(function.body):
        if loop.type not in LOOPS or any(inside(kid, *LOOPS) for kid in loop.children):
            continue
        found = {}
        for node in walk(loop):
            if node.type != "assignment_expression":
                continue
            left, operator = node.child_by_field_name("left"), node.child_by_field_name("operator")
            if left.type == "subscript_expression" and operator.type in ("+=", "-=", "*="):
                found[reading.text(left)] = left
        for place, left in found.items():
            if one := _sum(reading, locals, function, loop, place, left):
                yield one
                break


def _sum(
    reading: Reading, locals: Locals, function: Function, loop: Node, place: str, left: Node
) -> tuple[int, int, str] | None:
    array = left.child_by_field_name("argument")
    if array.type != "identifier" or locals.names(left) & locals.changed_in(loop):
        return None
    for key in locals.names(left):
        local = locals.declared.get(key)
        if local is not None and loop.start_byte <= local.statement.start_byte < loop.end_byte:
            return None
    parameter = next((one for one in function.parameters if one.name == reading.text(array)), None)
    if parameter is None or not parameter.pointer:
        return None
    whole = reading.text(loop)
    if len(re.findall(rf"\b{parameter.name}\b", whole)) != whole.count(place):
        return None
    if re.search(r"__sync|\breturn\b|\bgoto\b", whole):
        return None
    kind = re.sub(r"\b(?:const|__restrict__|__restrict)\b|\*", "", parameter.type).strip()
    held = reading.free_name(f"{parameter.name}_held")
    text = f"{{\n{kind} {held} = {place};\n{whole.replace(place, held)}\n{place} = {held};\n}}"
    return start_of(reading, loop), loop.end_byte, text


def _edit(
    reading: Reading,
    function: Function,
    edits: list[tuple[int, int, str]],
    place: dict[str, str | int],
) -> Iterator[Edit]:
    outer = [
        one
        for one in edits
        if not any(
            other is not one and other[0] <= one[0] and one[1] <= other[1] for other in edits
        )
    ]
    try:
        text = Front(reading.kernel).written(reading.rewritten(function, outer))
    except Unsure:
        return
    yield Edit(place=place, text=text)
