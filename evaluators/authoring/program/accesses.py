"""How a kernel uses what a pointer points to: is it read, is it written."""

import re
from collections.abc import Mapping

from evaluators.authoring.program.cpp import Node, node_text, walk
from evaluators.authoring.program.items import (
    Item,
    arguments_of,
    calls,
    declared,
    parameter_names,
    parameter_types,
)

_PLACES = ("subscript_expression", "pointer_expression", "field_expression")
_READ_WRITE = ("atomic", "__hip_atomic")


def accesses(
    function: Node, name: str, functions: Mapping[str, Item], depth: int
) -> tuple[bool, bool]:
    """Whether what a parameter points to is read, and written, in a function's body."""
    body = function.child_by_field_name("body")
    if body is None or depth > 4:
        return True, True
    known = {name}
    for one in walk(body):
        if one.type == "init_declarator" and _is_alias(one, known):
            known.add(declared(one))
    read = written = False
    for one in walk(body):
        if one.type == "assignment_expression" and _root(one.child_by_field_name("left")) in known:
            if _reaches(one.child_by_field_name("left")):
                written = True
                read = read or node_text(_need(one, "operator")) != "="
        elif one.type == "update_expression" and _root(one) in known and _reaches(one):
            read = written = True
        elif one.type in _PLACES and node_text(one)[:1] != "&":
            read = read or (_root(one) in known and not _is_target(one))
    for called, call in calls(body):
        for place, argument in enumerate(arguments_of(call)):
            if _root(argument) not in known or _reads_value(argument):
                continue
            inner = _passed_on(called, place, functions, depth)
            read, written = read or inner[0], written or inner[1]
    return read, written


def _passed_on(
    called: str, place: int, functions: Mapping[str, Item], depth: int
) -> tuple[bool, bool]:
    if called.startswith(_READ_WRITE):
        return True, True
    if called in ("__ldg", "__ldcs", "__ldca", "__builtin_nontemporal_load"):
        return True, False
    if called in ("__stcs", "__stcg") and place == 0:
        return False, True
    if called in ("reinterpret_cast", "static_cast", "const_cast"):
        return False, False
    if called in functions:
        node = functions[called].node
        names, types = parameter_names(node), [*parameter_types(node).values()]
        if place < len(names):
            if re.search(r"\bconst\b[^*]*\*", types[place]):
                return True, False
            if "*" in types[place] or "[" in types[place]:
                return accesses(node, names[place], functions, depth + 1)
            if "&" in types[place]:
                return True, True
            return True, False
    return True, True


def _reads_value(argument: Node) -> bool:
    """Whether an element is handed over, not the pointer."""
    return argument.type in ("subscript_expression", "field_expression") or (
        argument.type == "binary_expression" and any(_reaches(k) for k in argument.named_children)
    )


def _is_alias(node: Node, known: set[str]) -> bool:
    declarator, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
    if declarator is None or value is None:
        return False
    points = declarator.type in ("pointer_declarator", "reference_declarator")
    automatic = node.parent is not None and "auto" in node_text(node.parent).split("=")[0]
    return (points or (automatic and not _reads_value(value))) and _root(value) in known


def _is_target(node: Node) -> bool:
    """Whether it is only what an assignment writes to, or the inner part of such a place."""
    at = node
    while at.parent is not None:
        parent = at.parent
        if parent.type == "assignment_expression":
            return parent.child_by_field_name("left") == at
        if parent.type in ("subscript_expression", "field_expression"):
            base = parent.child_by_field_name("argument")
            if base != at:
                return False
        elif parent.type not in ("pointer_expression", "parenthesized_expression"):
            return node_text(parent)[:1] == "&" or parent.type == "update_expression"
        at = parent
    return False


def _reaches(node: Node | None) -> bool:
    """Whether it is an element of memory, not a pointer itself."""
    if node is None:
        return False
    return any(
        one.type in ("subscript_expression", "field_expression")
        or (one.type == "pointer_expression" and node_text(one)[:1] == "*")
        for one in walk(node)
    )


def _need(node: Node, field: str) -> Node:
    found = node.child_by_field_name(field)
    return node if found is None else found


def _root(node: Node | None) -> str:
    """The name of the pointer that an expression goes out from; "" where there is none."""
    while node is not None:
        match node.type:
            case "identifier":
                return node_text(node)
            case "subscript_expression" | "field_expression" | "pointer_expression":
                node = node.child_by_field_name("argument")
            case "update_expression":
                node = node.child_by_field_name("argument")
            case "cast_expression":
                node = node.child_by_field_name("value")
            case "parenthesized_expression":
                node = node.named_children[0] if node.named_children else None
            case "binary_expression":
                node = node.child_by_field_name("left")
            case "call_expression":
                inside = arguments_of(node)
                cast = "_cast<" in node_text(_need(node, "function"))
                node = inside[0] if cast and inside else None
            case _:
                return ""
    return ""
