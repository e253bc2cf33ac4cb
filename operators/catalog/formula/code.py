"""Formulas as C: statements that compute a node, each part once."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from operators.catalog.formula.node import Node

INFIX: Mapping[str, str] = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floor_divide": "/",  # of indices and sizes, which are not negative
    "remainder": "%",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
    "logical_and": "&&",
    "logical_or": "||",
}
FUNCTIONS: Mapping[str, str] = {
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "log": "log",
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "sqrt": "sqrt",
    "cbrt": "cbrt",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "tanh": "tanh",
    "sinh": "sinh",
    "cosh": "cosh",
    "arctan": "atan",
    "erf": "erf",
    "absolute": "fabs",
    "rint": "rint",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "power": "pow",
}
SIMPLE = frozenset({"const", "size", "var"})


class Unwritable(Exception):
    """There is no C for it here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """real: float or double, in which values are computed. size: how a size is called. load: an
    element of an argument, by its indices' texts."""

    real: str
    size: Callable[[str], str]
    load: Callable[[Node, tuple[str, ...]], str]


class Statements:
    """What one scope computes: lines, and the names of what they hold.

    outer: the scope around it, which computes what does not depend on this one's variable.
    """

    def __init__(
        self,
        style: Style,
        prefix: str,
        *,
        outer: "Statements | None" = None,
        variable: Node | None = None,
    ) -> None:
        self.style, self._prefix = style, prefix
        self._outer, self._variable = outer, variable
        self.lines: list[str] = []
        self.names: dict[Node, str] = {}
        self._reciprocals: set[str] = set()

    def of(self, node: Node) -> str:
        """A name, a constant or a simple expression that holds the node's value."""
        if node in self.names:
            return self.names[node]
        if self._outer is not None and self._variable not in node.free:
            return self._outer.of(node)
        text = self._text(node)
        if node.op in SIMPLE:
            return text
        name = f"{self._prefix}{len(self.names)}"
        kind = {"float": self.style.real, "int": "int", "bool": "bool"}[node.kind]
        self.lines.append(f"const {kind} {name} = {text};")
        self.names[node] = name
        return name

    def _text(self, node: Node) -> str:
        match node.op:
            case "const":
                return self._const(node)
            case "size":
                return self.style.size(node.value)
            case "divide" if self._divides_a_row(node):
                assert self._outer is not None
                above, below = (self.of(a) for a in node.args)
                return f"QUOTIENT({above}, {below}, {self._outer.reciprocal(node.args[1])})"
            case "load":
                return self.style.load(node, tuple(self.of(a) for a in node.args))
            case "var" | "reduce":
                raise Unwritable(f"{node} in this place")
        return self._called(node.op, node, [self.of(a) for a in node.args])

    def _divides_a_row(self, node: Node) -> bool:
        """Whether many values are divided by the same one."""
        below = node.args[1]
        return (
            self._outer is not None
            and self._variable not in below.free
            and below.op not in SIMPLE
            and node.args[0].kind == below.kind == "float"
        )

    def reciprocal(self, node: Node) -> str:
        """Of a value of this scope, as a name."""
        below = self.of(node)
        name = f"{below}_reciprocal"
        line = f"const {self.style.real} {name} = {self._number(1.0)} / {below};"
        if name not in self._reciprocals:
            self._reciprocals.add(name)
            self.lines.append(line)
        return name

    def _called(self, op: str, node: Node, args: list[str]) -> str:
        real, suffix = self.style.real, "" if self.style.real == "double" else "f"
        if node.kind == "float" and op != "where":
            args = [
                f"({real}){text}" if a.kind != "float" and a.op != "const" else text
                for text, a in zip(args, node.args, strict=True)
            ]
        match op:
            case _ if op in INFIX:
                if op in ("floor_divide", "remainder") and node.kind == "float":
                    raise Unwritable(op)
                return f"{args[0]} {INFIX[op]} {args[1]}"
            case "negative":
                return f"-{args[0]}"
            case "logical_not":
                return f"!{args[0]}"
            case "float":
                return f"({real}){args[0]}"
            case "int":
                return f"(int){args[0]}"
            case "square":
                return f"{args[0]} * {args[0]}"
            case "reciprocal":
                return f"{self._number(1.0)} / {args[0]}"
            case "maximum" | "minimum":
                sign = ">" if op == "maximum" else "<"
                return f"{args[0]} {sign} {args[1]} ? {args[0]} : {args[1]}"
            case "where":
                return f"{args[0]} ? {args[1]} : {args[2]}"
            case "expit":
                one = self._number(1.0)
                return f"{one} / ({one} + exp{suffix}(-{args[0]}))"
            case "sign":
                zero = self._number(0.0)
                return f"({real})({args[0]} > {zero}) - ({real})({args[0]} < {zero})"
            case "absolute" if node.kind == "int":
                return f"abs({args[0]})"
            case "power":
                return self._power(node, args)
            case _ if op in FUNCTIONS and node.kind == "float":
                return f"{FUNCTIONS[op]}{suffix}({', '.join(args)})"
        raise Unwritable(op)

    def _power(self, node: Node, args: list[str]) -> str:
        exponent = node.args[1]
        if exponent.op == "const" and exponent.value in (2, 3, 4):
            return " * ".join([args[0]] * int(exponent.value))
        suffix = "" if self.style.real == "double" else "f"
        if exponent.op == "const" and exponent.value in (0.5, -0.5):
            root = f"sqrt{suffix}({args[0]})"
            return root if exponent.value > 0 else f"{self._number(1.0)} / {root}"
        if node.kind != "float":
            raise Unwritable("a power of integers")
        return f"pow{suffix}({', '.join(args)})"

    def _const(self, node: Node) -> str:
        if node.kind == "bool":
            return "true" if node.value else "false"
        if node.kind == "int":
            return str(node.value) if node.value >= 0 else f"({node.value})"
        return self._number(node.value)

    def _number(self, value: float) -> str:
        if math.isinf(value):
            return "INFINITY" if value > 0 else "(-INFINITY)"
        if math.isnan(value):
            return "NAN"
        text = repr(float(value)) + ("" if self.style.real == "double" else "f")
        return text if value >= 0 else f"({text})"
