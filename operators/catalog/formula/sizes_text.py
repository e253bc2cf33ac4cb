"""Sizes as the front matter's expressions, and as C."""

from operators.catalog.formula.code import Unwritable
from operators.catalog.formula.node import Node
from operators.catalog.formula.signature import size_name

SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "floor_divide": "//"}


def size_text(node: Node, *, plan: bool) -> str:
    """plan: for the front matter, else as C. Raises Unwritable."""
    if node.op == "const" and node.kind == "int":
        return str(node.value)
    if node.op == "size":
        return str(node.value) if plan else size_name(node.value)
    if node.op in SIGNS:
        sign = SIGNS[node.op] if plan else SIGNS[node.op].replace("//", "/")
        a, b = (size_text(one, plan=plan) for one in node.args)
        return f"({a} {sign} {b})"
    raise Unwritable(f"the size {node}")
