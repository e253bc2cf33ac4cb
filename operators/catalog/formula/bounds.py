"""Between which values an index lies, on the shapes that a task states."""

from collections.abc import Callable, Mapping

from evaluators.expression import Env
from operators.catalog.formula.node import Node

Interval = tuple[int, int]
"""Least and greatest value."""


class Unknown(Exception):
    """It depends on values that are read."""


def interval(node: Node, env: Env) -> Interval:
    """env: dims and attributes. Raises Unknown."""
    match node.op:
        case "const" if node.kind == "int":
            return node.value, node.value
        case "size" if isinstance(value := env.get(node.value), int):
            return value, value
        case "var":
            return 0, interval(node.args[0], env)[1] - 1
        case "add" | "subtract" | "multiply" | "floor_divide" | "maximum" | "minimum":
            a, b = (interval(one, env) for one in node.args)
            if node.op == "floor_divide" and b[0] < 1:
                raise Unknown
            corners = [_OPERATIONS[node.op](x, y) for x in a for y in b]
            return min(corners), max(corners)
        case "remainder":
            below = interval(node.args[1], env)
            if below[0] < 1:
                raise Unknown
            return 0, below[1] - 1
    raise Unknown


_OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor_divide": lambda a, b: a // b,
    "maximum": max,
    "minimum": min,
}
