"""Interchange: two loops, one right inside of the other, change places.

Each round of one with a round of the other is then done in another order, which is the same where
rounds only add to what they share, or write elements of their own.
"""

from collections.abc import Iterator

from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.guards import waits
from operators.catalog.generic.analysis.locals import Locals
from operators.catalog.generic.analysis.loops import Counting, body_of, counting, reductions
from operators.catalog.generic.analysis.pointers import Pointers, distinct
from operators.catalog.generic.analysis.reading import (
    Function,
    Node,
    Reading,
    Unsure,
    bare,
    inside,
    variables,
    walk,
)
from operators.catalog.generic.edit import Edit, Place
from operators.catalog.generic.front import Front

_ADDING = ("+=", "-=")
_HEAD = ("initializer", "condition", "update")


def interchanged_loops(reading: Reading, task: Task) -> Iterator[Edit]:
    """Each such pair of a kernel."""
    for function in reading.kernels:
        if not distinct(reading, function) or not reading.plain(function):
            continue
        try:
            nests = [*_nests(reading, function)]
        except Unsure:
            continue
        for number, (outer, inner) in enumerate(nests):
            edits = [(*_span(outer), _head(reading, inner)), (*_span(inner), _head(reading, outer))]
            place: Place = {
                "kernel": function.name,
                "nest": number,
                "loops": f"{outer.name} {inner.name}",
            }
            try:
                text = Front(reading.kernel).written(reading.code(edits))
            except Unsure:
                continue
            yield Edit(place=place, text=text)


def _nests(reading: Reading, function: Function) -> Iterator[tuple[Counting, Counting]]:
    locals = Locals(reading, function)
    pointers = Pointers(reading, function, locals)
    for node in walk(function.body):
        outer = counting(locals, node)
        body = body_of(outer) if outer is not None else []
        inner = counting(locals, body[0]) if len(body) == 1 else None
        if outer is None or inner is None or not _are_apart(locals, outer, inner):
            continue
        if _is_any_order(reading, locals, pointers, outer, inner):
            yield outer, inner


def _are_apart(locals: Locals, outer: Counting, inner: Counting) -> bool:
    """Whether neither tells how far the other goes, nor what is done says that of either."""
    changed = locals.changed_in(inner.body)
    one, other = (_head_names(locals, loop) for loop in (outer, inner))
    return inner.key not in one and outer.key not in other and not (one | other) & changed


def _head_names(locals: Locals, loop: Counting) -> set[str]:
    found: set[str] = set()
    for part in _HEAD:
        found |= locals.names(loop.node.child_by_field_name(part))
    return found


def _is_any_order(
    reading: Reading, locals: Locals, pointers: Pointers, outer: Counting, inner: Counting
) -> bool:
    body = inner.body
    if waits(reading.text(body)) or locals.asks_atomics(body):
        return False
    if inside(body, "lambda_expression", "gnu_asm_expression", "return_statement"):
        return False
    elements = _elements(locals, pointers, body)
    if locals.names(body) & pointers.strays or elements is None:
        return False
    heads = _head_names(locals, outer) | _head_names(locals, inner)
    if heads & elements.keys():
        return False
    own = all(_is_own(reading, locals, outer, inner, some) for some in elements.values())
    return own and _only_adds(locals, inner, set(elements))


def _only_adds(locals: Locals, inner: Counting, arrays: set[str]) -> bool:
    """Whether rounds reduce the variables that outlive them, or leave these alone."""
    if reductions(locals, inner) is not None:
        return True
    start, end = inner.body.start_byte, inner.body.end_byte
    within = {
        key for key, local in locals.declared.items() if start <= local.statement.start_byte < end
    }
    return locals.changed_in(inner.body) - within <= arrays


def _elements(locals: Locals, pointers: Pointers, body: Node) -> dict[str, list[Node]] | None:
    """By array that is written there, all of its elements that are named; None: a part of one is
    written otherwise."""
    written: dict[str, list[Node]] = {}
    for node in walk(body):
        if node.type in ("assignment_expression", "update_expression"):
            left = node.child_by_field_name(
                "left" if node.type == "assignment_expression" else "argument"
            )
            if bare(left).type == "identifier":
                continue
            key = _array(locals, left)
            if key is None:
                return None
            written[key] = []
    roots = {pointers.local.get(key, key) for key in written}
    for one in variables(body):
        key = locals.key(one)
        if pointers.local.get(key, key) not in roots or _is_declared(one):
            continue
        element = one.parent
        while element.parent.type == "subscript_expression" and _is_base(element):
            element = element.parent
        if element.type != "subscript_expression" or key not in written:
            return None
        written[key].append(element)
    return written


def _is_declared(node: Node) -> bool:
    return bool(node.parent.type.endswith("declarator"))


def _is_base(node: Node) -> bool:
    return bool(node.parent.child_by_field_name("argument").id == node.id)


def _array(locals: Locals, element: Node) -> str | None:
    """Whose element it is: an array's or a pointer's."""
    element = bare(element)
    if element.type != "subscript_expression":
        return None
    while element.type == "subscript_expression":
        element = element.child_by_field_name("argument")
    return locals.key(element) if element.type == "identifier" else None


def _is_own(
    reading: Reading, locals: Locals, outer: Counting, inner: Counting, elements: list[Node]
) -> bool:
    """Whether each round writes one element, and adds to it, or has it to itself."""
    if len({reading.text(one) for one in elements}) != 1:
        return False
    changed = locals.changed_in(inner.body) - {outer.key, inner.key}
    if locals.names(elements[0]) - {_array(locals, elements[0])} & changed:
        return False
    assignments = [one.parent for one in elements if one.parent.type == "assignment_expression"]
    if len(assignments) == len(elements) == 1:
        operator = assignments[0].child_by_field_name("operator").type
        statement = assignments[0].parent.type == "expression_statement"
        if operator in _ADDING and statement:
            return True
    return _tells_rounds_apart(reading, locals, outer, inner, elements[0])


def _tells_rounds_apart(
    reading: Reading, locals: Locals, outer: Counting, inner: Counting, element: Node
) -> bool:
    """Whether it is [i][j], or [i * n + j] where j counts to n."""
    indices = []
    while element.type == "subscript_expression":
        some = element.child_by_field_name("indices").named_children
        indices += some
        element = element.child_by_field_name("argument")
    keys = {outer.key, inner.key}
    if len(indices) > 1:
        plain = {locals.key(bare(one)) for one in indices if bare(one).type == "identifier"}
        return keys <= plain
    index = bare(indices[0])
    if index.type != "binary_expression" or index.child_by_field_name("operator").type != "+":
        return False
    sides = [bare(index.child_by_field_name(one)) for one in ("left", "right")]
    for product, fast in (sides, sides[::-1]):
        loop = next((one for one in (outer, inner) if _is(locals, fast, one.key)), None)
        if loop is None or product.type != "binary_expression":
            continue
        (slow,) = keys - {loop.key}
        factors = [bare(product.child_by_field_name(one)) for one in ("left", "right")]
        plain = product.child_by_field_name("operator").type == "*"
        others = [one for one in factors if not _is(locals, one, slow)]
        counts = loop.start.strip() == "0" and loop.comparison == "<"
        if plain and counts and len(others) == 1:
            return reading.text(others[0]) == reading.text(bare(loop.bound))
    return False


def _is(locals: Locals, node: Node, key: str) -> bool:
    return bool(node.type == "identifier" and locals.key(node) == key)


def _span(loop: Counting) -> tuple[int, int]:
    """Of its head: for (...)."""
    closing = [one for one in loop.node.children if one.type == ")"]
    return loop.node.start_byte, closing[-1].end_byte


def _head(reading: Reading, loop: Counting) -> str:
    start, end = _span(loop)
    return reading.data[start:end].decode()
