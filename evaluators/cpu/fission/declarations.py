"""Forms of declarations that are brought to simpler ones before a kernel is cut."""

from collections.abc import Callable

from evaluators.cpu.fission.ir import Fixed
from evaluators.cpu.fission.tree import TYPES, Node, group, leaf, parsed_arguments

_BUILT_IN = frozenset({"primitive_type", "sized_type_specifier"})


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


def recognise(body: Node) -> None:
    """Declarations that a parser without symbols takes for something else, as what they are."""
    for one in list(body.walk()):
        if one.kind == "declaration":
            for declarator in one.all("declarator"):
                _direct(declarator)
        elif one.kind == "expression_statement":
            _pointer_to_array(one)


def _direct(declarator: Node) -> None:
    """View left(a, n[0]); declares a variable, no function: a and n are names of no type."""
    listed = declarator.get("parameters")
    if declarator.kind != "function_declarator" or listed is None or len(listed.kids) < 3:
        return
    value = parsed_arguments(listed)
    if value is None:
        return
    named = declarator.need("declarator")
    value.field = "value"
    declarator.become(group("init_declarator", declarator.line, named, value))


def _pointer_to_array(statement: Node) -> None:
    """float(*rows)[33] = value; declares a pointer, it calls nothing."""
    assigned = statement.kids[0]
    whole = assigned.get("left") if assigned.kind == "assignment_expression" else assigned
    bounds: list[Node] = []
    while whole is not None and whole.kind == "subscript_expression":
        bounds.insert(0, whole.need("indices"))
        whole = whole.need("argument")
    if whole is None or not bounds or whole.kind != "call_expression":
        return
    kind, arguments = whole.need("function"), whole.need("arguments").kids
    if kind.kind not in _BUILT_IN or len(arguments) != 3:
        return
    pointer = arguments[1]
    if pointer.kind != "pointer_expression" or pointer.kids[0].text != "*":
        return
    statement.become(_declared_pointer(kind, pointer.need("argument"), bounds, assigned))


def _declared_pointer(kind: Node, named: Node, bounds: list[Node], assigned: Node) -> Node:
    line = kind.line
    pointer = group("pointer_declarator", line, "*", named)
    declarator = group("parenthesized_declarator", line, "(", pointer, ")")
    for bound in bounds:
        inner, (opening, size, closing) = declarator, bound.kids
        declarator = group("array_declarator", line, inner, opening, size, closing)
        inner.field, size.field = "declarator", "size"
    named.field = pointer.field = "declarator"
    kind.field = "type"
    if (value := assigned.get("right")) is not None:
        value.field, declarator.field = "value", "declarator"
        declarator = group("init_declarator", line, declarator, "=", value)
    declarator.field = "declarator"
    return group("declaration", line, kind, declarator, ";")


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
