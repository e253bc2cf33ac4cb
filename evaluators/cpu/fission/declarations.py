"""Forms of declarations that are brought to simpler ones before a kernel is cut."""

from collections.abc import Callable

from evaluators.cpu.fission.ir import Fixed
from evaluators.cpu.fission.tree import TYPES, Node, group, leaf


def apart(node: Node, fresh: Callable[[str], str]) -> list[Fixed]:
    """struct { int a; } v; becomes a struct with a name, returned, and T v; which stays."""
    kind = node.get("type")
    if kind is None or kind.kind not in TYPES or kind.get("body") is None:
        return []
    named = kind.get("name")
    if named is None:
        named = leaf(fresh("type"), kind.line, "type_identifier")
        named.field = "name"
        kind.kids.insert(1, named)
    declared = Node(kind.kind, kind.line, "", kind.kids)
    kind.become(leaf(named.text, kind.line, "type_identifier"))
    return [Fixed(group("declaration", declared.line, declared, ";"))]


def without_volatile(head: list[Node], declarator: Node) -> list[Node]:
    """A variable of one thread: no other one sees when it is read. What it points to stays."""
    pointing = {"pointer_declarator", "reference_declarator"}
    if pointing & {one.kind for one in declarator.walk() if one.field != "value"}:
        return head
    return [kid for kid in head if kid.text != "volatile" and str(kid) != "volatile"]


def with_equals(head: list[Node], declarator: Node) -> None:
    """auto x{value} becomes auto x = value."""
    value = declarator.get("value")
    if value is None or value.kind != "initializer_list" or len(value.kids) != 3:
        return
    if not any(kid.has_leaf("auto") for kid in head) or declarator.has("="):
        return
    inner = value.kids[1]
    inner.field = "value"
    declarator.kids[-1:] = [leaf("=", value.line, "="), inner]


def guard_bounds(declarator: Node) -> None:
    """T x[A > B] becomes T x[(A > B)]: the type is to stand among template arguments."""
    for one in declarator.walk():
        size = one.get("size") if one.kind == "array_declarator" else None
        if size is not None and size.kids and size.kind != "parenthesized_expression":
            twin = Node(size.kind, size.line, size.text, size.kids)
            size.become(group("parenthesized_expression", size.line, "(", twin, ")"))


def array_dims(declarator: Node) -> list[str]:
    """The bounds as written, the first one first."""
    dims: list[str] = []
    node: Node | None = declarator
    while node is not None and node.kind == "array_declarator":
        dims.insert(0, str(node.get("size") or ""))
        node = node.get("declarator")
    return dims


def decayed(declarator: Node) -> Node:
    """T x[8][4] as a parameter is T (*x)[4]; references and pointers to arrays stay."""
    if any(one.kind == "parenthesized_declarator" for one in declarator.walk()):
        return declarator
    innermost = declarator
    while (inner := innermost.get("declarator")) is not None and inner.kind == "array_declarator":
        innermost = inner
    named = innermost.need("declarator")
    pointer = group("pointer_declarator", declarator.line, "*", named)
    pointer.field = named.field = "declarator"
    if innermost is declarator:
        return pointer
    innermost.become(group("parenthesized_declarator", declarator.line, "(", pointer, ")"))
    return declarator
