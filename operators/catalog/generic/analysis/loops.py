"""Counting loops: for (int i = A; i < B; i += S), and what they reduce."""

from dataclasses import dataclass

from operators.catalog.generic.analysis.locals import LOOPS, Locals, leaves_loop, statements
from operators.catalog.generic.analysis.reading import Node, Reading, bare, inside, walk


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """key: its counter's; type: the counter's; bound: what it stays below (or at: comparison);
    step: text."""

    node: Node
    body: Node
    key: str
    name: str
    type: str
    start: str
    comparison: str
    bound: Node
    step: str


def counting(locals: Locals, node: Node) -> Counting | None:
    """None: another loop, or one whose counter, bound or step changes within, or that is left."""
    if node.type != "for_statement":
        return None
    head = node.child_by_field_name("initializer")
    condition, update = node.child_by_field_name("condition"), node.child_by_field_name("update")
    body = node.child_by_field_name("body")
    if head is None or head.type != "declaration" or condition is None or update is None:
        return None
    found = locals.of(head)
    if len(found) != 1 or found[0].value is None or found[0].form != "identifier":
        return None
    local = found[0]
    reading = locals.reading
    condition = bare(condition)
    if condition.type != "binary_expression":
        return None
    left, bound = condition.child_by_field_name("left"), condition.child_by_field_name("right")
    comparison = condition.child_by_field_name("operator").type
    step = _step(locals, update, local.key)
    if left.type != "identifier" or locals.key(left) != local.key or step is None:
        return None
    if comparison not in ("<", "<=") or inside(body, "return_statement", "goto_statement"):
        return None
    changed = locals.changed_in(body)
    fixed = {local.key} | locals.names(bound) | locals.names(step) - {local.key}
    if changed & fixed or leaves_loop(body) or locals.key(left) in locals.names(bound):
        return None
    first = head.child_by_field_name("declarator").start_byte
    return Counting(
        node=node,
        body=body,
        key=local.key,
        name=local.name,
        type=reading.data[head.start_byte : first].decode().strip(),
        start=reading.text(local.value),
        comparison=comparison,
        bound=bound,
        step="1" if step.type == "update_expression" else reading.text(step),
    )


def _step(locals: Locals, update: Node, key: str) -> Node | None:
    """++i, i++, i += S, i = i + S: the node that tells S; the update itself stands for 1."""
    if update.type == "update_expression":
        argument = update.child_by_field_name("argument")
        plus = any(one.type == "++" for one in update.children)
        return update if plus and locals.key(argument) == key else None
    if update.type != "assignment_expression":
        return None
    left, right = update.child_by_field_name("left"), update.child_by_field_name("right")
    if left.type != "identifier" or locals.key(left) != key:
        return None
    operator = update.child_by_field_name("operator").type
    if operator == "+=":
        return right
    if operator == "=" and right.type == "binary_expression":
        one, other = right.child_by_field_name("left"), right.child_by_field_name("right")
        added = right.child_by_field_name("operator").type == "+"
        if added and one.type == "identifier" and locals.key(one) == key:
            return other
    return None


def start_of(reading: Reading, loop: Node) -> int:
    """Where a loop begins, with what directives before it say of it."""
    start: int = loop.start_byte
    while True:
        before = reading.data[:start].rstrip()
        line = before.rfind(b"\n") + 1
        if not before[line:].lstrip().startswith(b"#pragma"):
            return start
        start = line


def innermost(body: Node) -> list[Node]:
    """Loops that hold no other."""
    return [
        one
        for one in walk(body)
        if one.type in LOOPS and not any(inside(kid, *LOOPS) for kid in one.children)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduction:
    """key: of the variable; kind: +, *, or the function that chooses the larger or smaller."""

    key: str
    kind: str


_EXTREMES = ("fmaxf", "fminf", "max", "min", "fmax", "fmin")


def reductions(locals: Locals, loop: Counting) -> list[Reduction] | None:
    """What the loop's body reduces into scalars; None: it does something with them beside."""
    found: dict[str, str] = {}
    for node in walk(loop.body):
        key, kind = _reduces(locals, node)
        if key is None:
            continue
        if found.get(key, kind) != kind:
            return None
        found[key] = kind
    outside = {key for key in locals.changed_in(loop.body) if not _declared_in(locals, key, loop)}
    if outside != found.keys():
        return None
    for key in found:
        local = locals.declared.get(key)
        if local is None or local.form != "identifier":
            return None
        uses = sum(
            1 for one in walk(loop.body) if one.type == "identifier" and locals.key(one) == key
        )
        if uses != sum(_uses(locals, node, key) for node in walk(loop.body)):
            return None
    return [Reduction(key=key, kind=kind) for key, kind in found.items()]


def _declared_in(locals: Locals, key: str, loop: Counting) -> bool:
    local = locals.declared.get(key)
    if local is None:
        return False
    return bool(loop.body.start_byte <= local.statement.start_byte < loop.body.end_byte)


def _reduces(locals: Locals, node: Node) -> tuple[str | None, str]:
    """Of one node: r += e, r = r + e, r = fmaxf(r, e), ++r."""
    nothing = None, ""
    if node.type == "update_expression":
        argument = node.child_by_field_name("argument")
        plus = any(one.type == "++" for one in node.children)
        if not plus or argument.type != "identifier" or node.parent.type != "expression_statement":
            return nothing
        return locals.key(argument), "+"
    if node.type != "assignment_expression" or node.parent.type != "expression_statement":
        return nothing
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left.type != "identifier":
        return nothing
    key, operator = locals.key(left), node.child_by_field_name("operator").type
    if operator in ("+=", "*=", "-="):
        return key, {"+=": "+", "-=": "+", "*=": "*"}[operator]
    right = bare(right)
    if operator != "=":
        return nothing
    if right.type == "binary_expression":
        kind = right.child_by_field_name("operator").type
        one = right.child_by_field_name("left")
        if kind in ("+", "*") and one.type == "identifier" and locals.key(one) == key:
            return key, kind
    if right.type == "call_expression":
        callee = right.child_by_field_name("function").text.decode()
        arguments = right.child_by_field_name("arguments").named_children
        own = any(one.type == "identifier" and locals.key(one) == key for one in arguments)
        if callee in _EXTREMES and len(arguments) == 2 and own:
            return key, callee
    return nothing


def _uses(locals: Locals, node: Node, key: str) -> int:
    """How often a reduction names its variable."""
    if _reduces(locals, node)[0] != key:
        return 0
    short = node.type == "update_expression" or (
        node.child_by_field_name("operator").type in ("+=", "-=", "*=")
    )
    return 1 if short else 2


def body_of(loop: Counting) -> list[Node]:
    return statements(loop.body)
