"""Outputs: what differs between the outputs that one thread computes, and what they share."""

import re

from operators.catalog.generic.analysis.guards import condition_of, returns
from operators.catalog.generic.analysis.indices import AXES, Index, below
from operators.catalog.generic.analysis.locals import Locals, statements
from operators.catalog.generic.analysis.reading import Function, Node, Reading, Unsure, walk


class Outputs:
    """Of one index of a kernel, which is to have `count` values a thread: neighbouring ones, or a
    block's width apart.

    own: counts the thread's outputs; first: the first of them; many: how many, a parameter.
    region: statements after the index. bounds: of each if that keeps the index below something
    fixed, its parts that do so; they hold for all outputs where they do for the last. varying:
    keys of all variables that differ between outputs. formulas: what some of these stand for.
    """

    def __init__(self, reading: Reading, function: Function, index: Index, *, apart: bool) -> None:
        """Raises Unsure."""
        self.reading, self.function, self.index, self.apart = reading, function, index, apart
        self.locals = Locals(reading, function)
        free = reading.free_name
        axis = AXES[self.index.axis].upper()
        self.own, self.first, self.many = free("own"), free("first"), free(f"PER_{axis}")
        key = self.index.local.key
        if self.locals.changes(key) or "@" in key:
            raise Unsure
        body = statements(self.function.body)
        at = next(i for i, one in enumerate(body) if one.id == self.index.local.statement.id)
        self.region = body[at + 1 :]
        self.bounds = self._bounds()
        self.varying = self.locals.varying({key}, self.bounds.keys())
        width = f" * {self.index.width}" if self.apart else ""
        self.formulas = {key: f"({self.first} + {self.own}{width})"}
        for other in sorted(self.varying - {key}, key=self.position):
            value = self.locals.formula(other)
            held = self.varying - self.formulas.keys()  # they are in arrays, or will be
            if value is not None and not self.locals.names(value) & held:
                text = self.locals.with_names(value, self.formulas)
                self.formulas[other] = f"({self.cast(other)}({text}))"

    def _bounds(self) -> dict[int, list[Node]]:
        """Of each if whose condition keeps the index below what does not change meanwhile: its
        parts that do so. They hold for all of a thread's outputs where they do for the last."""
        found: dict[int, list[Node]] = {}
        for statement in self.region:
            for node in walk(statement):
                if node.type != "if_statement":
                    continue
                leaves = returns(node)
                parts = below(condition_of(node), self.index.local.name, negated=leaves)
                if parts and all(self._is_fixed(one) for one in parts):
                    found[node.id] = parts
        return found

    def _is_fixed(self, bound: Node) -> bool:
        """Whether what the index is compared with is the same all along."""
        start = self.index.local.statement.end_byte
        for key in self.locals.names(bound) - {self.index.local.key}:
            local = self.locals.declared.get(key)
            late = local is not None and local.statement.start_byte >= start
            if late or any(one.end_byte > start for one in self.locals.changes(key)):
                return False
        return True

    def cast(self, key: str) -> str:
        """To the type that a variable's declaration converts to."""
        local = self.locals.declared[key]
        kind = re.sub(r"\b(?:const|constexpr)\b\s*", "", self.type(local.statement)).strip()
        if local.form == "pointer_declarator" or kind == "auto":
            return ""
        if local.value is not None and {"int"} >= {kind} and "size_t" not in str(local.value.text):
            return ""
        return f"({kind})"

    def position(self, key: str) -> int:
        found = self.locals.declared.get(key)
        return found.statement.start_byte if found else 0

    def of_last(self, node: Node) -> str:
        """Text, for the last output."""
        step = f"{self.many} - 1"
        if self.apart:
            step = f"({step}) * {self.index.width}"
        return self.locals.with_names(node, {self.index.local.key: f"({self.first} + {step})"})

    def varies(self, node: Node) -> bool:
        if self.locals.depends(node, self.varying):
            return True
        if node.type == "declaration":
            return any(one.key in self.varying for one in self.locals.of(node))
        return False

    def type(self, statement: Node) -> str:
        """What a declaration begins with, before its first declarator."""
        first = statement.child_by_field_name("declarator")
        return " ".join(self.reading.data[statement.start_byte : first.start_byte].decode().split())
