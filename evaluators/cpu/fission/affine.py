"""Addresses and indices in forms whose steps from thread to thread a compiler can follow.

It then reads neighbouring elements as one vector. g++ 12 gathers, or does not vectorise at all,
where an address is taken (&x[i], for x + i) or an int comes from unsigned sums that might wrap.
"""

from evaluators.cpu.fission.ir import Var
from evaluators.cpu.fission.tree import Node, group, leaf

_CALLS = {"+": "ks_plus", "-": "ks_minus", "*": "ks_times"}
"""In ks/fission.h: as the operator, but of integers of 32 bits as int, which does not wrap."""


def follow(node: Node) -> None:
    """Rewrite a statement, whose names are resolved, in place."""
    for one in list(node.walk()):
        if one.kind == "pointer_expression" and one.kids[0].text == "&":
            _sum_of_address(one)
    if node.kind == "declaration":
        _index(node)


def _sum_of_address(node: Node) -> None:
    """&x[i][j] becomes (x[i] + (j)), where x is an array of so many dimensions."""
    element = node.need("argument")
    depth, root = 0, element
    while root.kind == "subscript_expression":
        depth, root = depth + 1, root.need("argument")
    var = root.var
    if depth == 0 or not isinstance(var, Var) or not depth <= var.dims:
        return
    listed = element.need("indices").kids
    if len(listed) == 3:
        node.become(group("sum", node.line, "(", element.need("argument"), "+ (", listed[1], ") )"))


def _index(node: Node) -> None:
    """int i = a + b; becomes int i = ks_plus(a, b);"""
    kinds = [str(kid) for kid in node.kids if kid.field == "type"]
    declarator = node.get("declarator")
    if kinds != ["int"] or declarator is None or declarator.kind != "init_declarator":
        return
    value = declarator.get("value")
    if value is not None and declarator.need("declarator").kind == "identifier":
        _signed(value)


def _signed(node: Node) -> None:
    if node.kind == "parenthesized_expression":
        _signed(node.kids[1])
    elif node.kind == "binary_expression" and node.kids[1].text in _CALLS:
        left, operator, right = node.kids
        for side in (left, right):
            _signed(side)
        name = leaf(f"{_CALLS[operator.text]} (", node.line)
        node.become(group("sum", node.line, name, left, ",", right, ")"))
