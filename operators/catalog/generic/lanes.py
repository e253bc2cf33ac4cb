"""Lanes: a reduction loop with several independent accumulators, joined after it."""

import re
from collections.abc import Iterator

from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.locals import Locals
from operators.catalog.generic.analysis.loops import (
    Counting,
    Reduction,
    body_of,
    counting,
    innermost,
    reductions,
    start_of,
)
from operators.catalog.generic.analysis.reading import Function, Node, Reading, Unsure, inside
from operators.catalog.generic.edit import Edit, Place
from operators.catalog.generic.front import Front

VALUES = (1, 2, 4, 8, 16, 32, 64)
_NUMBERS = re.compile(r"\b(?:float|double|int|unsigned|long|u?int\d+_t|size_t)\b")


def independent_accumulators(reading: Reading, task: Task) -> Iterator[Edit]:
    """In all innermost reduction loops of a kernel, and in each by itself."""
    for function in reading.kernels:
        if not reading.plain(function):
            continue
        try:
            locals = Locals(reading, function)
            found = _loops(reading, locals, function)
        except Unsure:
            continue
        groups = [found, *([one] for one in found)] if len(found) > 1 else [found] * bool(found)
        for number, group in enumerate(groups):
            for count in (4, 16):
                try:
                    text = _text(reading, function, locals, group, count)
                except Unsure:
                    continue
                place: Place = {"kernel": function.name, "loops": number, "count": count}
                yield Edit(place=place, text=text)


def _loops(
    reading: Reading, locals: Locals, function: Function
) -> list[tuple[Counting, list[Reduction]]]:
    found = []
    for node in innermost(function.body):
        loop = counting(locals, node)
        if loop is None or loop.name.startswith(("own", "lane")):
            continue
        if inside(loop.body, "lambda_expression") or _has_barrier(reading, loop.body):
            continue
        reduced = reductions(locals, loop)
        if reduced and all(is_number(locals, one) for one in reduced):
            found.append((loop, reduced))
    return found


def is_number(locals: Locals, one: Reduction) -> bool:
    statement = locals.declared[one.key].statement
    first = statement.child_by_field_name("declarator")
    before = locals.reading.data[statement.start_byte : first.start_byte].decode()
    return bool(_NUMBERS.search(before)) and "volatile" not in before


def _has_barrier(reading: Reading, node: Node) -> bool:
    return bool(re.search(r"__sync|__shfl|__ballot", reading.text(node)))


def _text(
    reading: Reading,
    function: Function,
    locals: Locals,
    group: list[tuple[Counting, list[Reduction]]],
    count: int,
) -> str:
    front = Front(reading.kernel)
    lanes = reading.free_name("LANES")
    front.add(lanes, count, VALUES)
    edits = []
    for loop, reduced in group:
        made = _rewritten(reading, locals, loop, reduced, lanes)
        edits.append((start_of(reading, loop.node), loop.node.end_byte, made))
    return front.written(reading.rewritten(function, edits))


def _rewritten(
    reading: Reading, locals: Locals, loop: Counting, reduced: list[Reduction], lanes: str
) -> str:
    lane, counter = reading.free_name("lane"), reading.free_name(f"{loop.name}_at")
    bound = reading.text(loop.bound)
    step = "" if loop.step == "1" else f" * ({loop.step})"
    names = {loop.key: f"({counter} + {lane}{step})"}
    before, after = [], []
    for one in reduced:
        local = locals.declared[one.key]
        parts = reading.free_name(f"{local.name}_lanes")
        names[one.key] = f"{parts}[{lane}]"
        kind = type_of(reading, local.statement)
        first = {"+": "0", "*": "1"}.get(one.kind, local.name)
        before.append(f"{kind} {parts}[{lanes}];")
        before.append(_each(lane, lanes, [f"{parts}[{lane}] = {first};"]))
        joined = f"{local.name} {one.kind}= {parts}[{lane}];"
        if one.kind not in "+*":
            joined = f"{local.name} = {one.kind}({local.name}, {parts}[{lane}]);"
        after.append(_each(lane, lanes, [joined]))
    inner = [locals.with_names(one, names) for one in body_of(loop)]
    rest = [reading.text(one) for one in body_of(loop)]
    kind = re.sub(r"\bconst\b", "", loop.type).strip()
    return "\n".join(
        [
            "{",
            *before,
            f"{kind} {counter} = {loop.start};",
            f"for (; {counter} + ({lanes} - 1){step} {loop.comparison} {bound}; "
            f"{counter} += {lanes}{step}) {{",
            _each(lane, lanes, inner),
            "}",
            *after,
            f"for ({kind} {loop.name} = {counter}; {loop.name} {loop.comparison} {bound}; "
            f"{loop.name} += {loop.step}) {{",
            *rest,
            "}",
            "}",
        ]
    )


def _each(lane: str, lanes: str, body: list[str]) -> str:
    head = f"for (int {lane} = 0; {lane} < {lanes}; ++{lane}) {{"
    return "\n".join(["#pragma unroll", head, *body, "}"])


def type_of(reading: Reading, statement: Node) -> str:
    first = statement.child_by_field_name("declarator")
    before = reading.data[statement.start_byte : first.start_byte].decode()
    return re.sub(r"\b(?:const|static|register)\b", "", " ".join(before.split())).strip()
