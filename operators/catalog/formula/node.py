"""Nodes of a formula: one value, computed from loads, indices, sizes and reductions."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

Kind = Literal["int", "float", "bool"]

REDUCTIONS = ("sum", "prod", "max", "min", "argmax", "argmin", "any", "all")

COMPARISONS = frozenset({"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"})
LOGIC = frozenset({"logical_and", "logical_or", "logical_not"})
INTEGER = frozenset({"floor_divide", "remainder"})


class Node:
    """One value. Equal ones are the same object, within a Graph.

    op: "const" (value: a number), "size" (value: its name, a dim or an attribute), "var" (value:
    its name; args: its extent), "load" (value: the argument; args: an index a dimension),
    "reduce" (value: one of REDUCTIONS; args: the variable and the body), or the name of a numpy
    function of one value. free: names of the variables that it depends on. level: how deep
    reductions are nested in it.
    """

    __slots__ = ("args", "free", "kind", "level", "op", "value")

    def __init__(self, op: str, args: tuple["Node", ...], value: Any, kind: Kind) -> None:
        self.op, self.args, self.value, self.kind = op, args, value, kind
        self.free: frozenset[Node] = frozenset().union(*(a.free for a in args))
        self.level: int = max((a.level for a in args), default=0)
        if op == "var":
            self.free = frozenset({self})
        elif op == "reduce":
            variable, body = args
            self.free = (body.free - {variable}) | variable.args[0].free
            self.level += 1

    def __repr__(self) -> str:
        if self.op in ("const", "size", "var"):
            return str(self.value)
        inside = ", ".join(map(repr, self.args))
        return f"{self.op}{f' {self.value}' if self.value else ''}({inside})"

    def walk(self) -> Iterator["Node"]:
        """Itself and all below, each once, what is needed first."""
        seen: set[int] = set()
        stack = [(self, False)]
        while stack:
            node, done = stack.pop()
            if done:
                yield node
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack += [(arg, False) for arg in reversed(node.args)]

    def reductions(self) -> list["Node"]:
        """Inner ones first."""
        return [node for node in self.walk() if node.op == "reduce"]

    def loads(self) -> list["Node"]:
        return [node for node in self.walk() if node.op == "load"]


class Graph:
    """Makes nodes, equal ones once, with the simplest arithmetic done.

    numpy: what traced arrays of this graph do in numpy's place (operations.py).
    """

    def __init__(self, numpy: Any = None) -> None:
        self.numpy = numpy
        self._known: dict[tuple[Any, ...], Node] = {}

    def _make(self, op: str, args: tuple[Node, ...], value: Any, kind: Kind) -> Node:
        key = (op, *map(id, args), type(value), value)
        if key not in self._known:
            self._known[key] = Node(op, args, value, kind)
        return self._known[key]

    def const(self, value: bool | int | float) -> Node:
        kind: Kind = (
            "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
        )
        return self._make("const", (), value, kind)

    def size(self, name: str, kind: Kind = "int") -> Node:
        return self._make("size", (), name, kind)

    def var(self, name: str, extent: Node) -> Node:
        return self._make("var", (extent,), name, "int")

    def load(self, argument: str, indices: tuple[Node, ...], kind: Kind) -> Node:
        return self._make("load", indices, argument, kind)

    def reduce(self, how: str, var: Node, body: Node) -> Node:
        kind: Kind = body.kind
        if how.startswith("arg"):
            kind = "int"
        elif how in ("any", "all"):
            kind = "bool"
        elif kind == "bool":
            kind = "int"
        return self._make("reduce", (var, body), how, kind)

    def call(self, op: str, *args: Node) -> Node:
        """A function of values, by numpy's name."""
        simple = self._simplified(op, args)
        return simple or self._make(op, args, None, _kind(op, args))

    def _simplified(self, op: str, args: tuple[Node, ...]) -> Node | None:
        a, *others = args
        b = others[0] if others else None
        if op == "positive" or (op == "float" and a.kind == "float"):
            return a
        if b is None or not (a.kind == b.kind == "int"):
            return None
        values = [n.value if n.op == "const" else None for n in (a, b)]
        if None not in values and op in _EXACT and not (op in INTEGER and values[1] == 0):
            return self.const(_EXACT[op](*values))
        match op:
            case "add" if 0 in values:
                return b if values[0] == 0 else a
            case "subtract" if values[1] == 0:
                return a
            case "subtract" if a is b:
                return self.const(0)
            case "multiply" if 0 in values:
                return self.const(0)
            case "multiply" | "floor_divide" if values[1] == 1:
                return a
            case "multiply" if values[0] == 1:
                return b
            case "floor_divide" | "remainder":
                return self._divided(op, a, b)
        return None

    def _divided(self, op: str, a: Node, b: Node) -> Node | None:
        """(q * b + r) // b and % b, where 0 <= r < b."""
        if _below(a, b):
            return self.const(0) if op == "floor_divide" else a
        if a.op == "multiply" and b in a.args:
            rest = a.args[1 - a.args.index(b)]
            return rest if op == "floor_divide" else self.const(0)
        if a.op != "add":
            return None
        for whole, rest in (a.args, a.args[::-1]):
            if whole.op == "multiply" and b in whole.args and _below(rest, b):
                return whole.args[1 - whole.args.index(b)] if op == "floor_divide" else rest
        return None

    def replaced(self, node: Node, by: Mapping[Node, Node]) -> Node:
        """The same with some nodes replaced by others."""
        done: dict[Node, Node] = {}
        for one in node.walk():
            if one in by:
                done[one] = by[one]
                continue
            args = tuple(done[a] for a in one.args)
            if args == one.args:
                done[one] = one
            elif one.op in ("load", "var", "reduce"):
                done[one] = self._make(one.op, args, one.value, one.kind)
            else:
                done[one] = self.call(one.op, *args)
        return done[node]


_EXACT = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor_divide": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
}


def _below(node: Node, bound: Node) -> bool:
    """Whether a value is known to be from 0 to below the bound."""
    if node.op == "var":
        return node.args[0] is bound
    if node.op == "remainder":
        return node.args[1] is bound
    if node.op == "const" and bound.op == "const":
        return bool(0 <= node.value < bound.value)
    return node.op == "const" and node.value == 0


def _kind(op: str, args: tuple[Node, ...]) -> Kind:
    if op in COMPARISONS or op in LOGIC:
        return "bool"
    kinds = [a.kind for a in (args[1:] if op == "where" else args)]
    if op in ("add", "subtract", "multiply", "maximum", "minimum", "negative", "absolute", "where"):
        return "float" if "float" in kinds else "bool" if set(kinds) == {"bool"} else "int"
    if op in INTEGER and "float" not in kinds:
        return "int"
    if op in ("square", "sign", "clip", "power") and "float" not in kinds:
        return "int"
    return "float"
