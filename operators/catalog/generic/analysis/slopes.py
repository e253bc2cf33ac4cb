"""Slopes: how much an index grows from one round of a loop to the next."""

from operators.catalog.generic.analysis.locals import Local, Locals
from operators.catalog.generic.analysis.loops import Counting
from operators.catalog.generic.analysis.reading import Node, bare, variables


class Slopes:
    """Of indices in one loop's body."""

    def __init__(self, locals: Locals, loop: Counting) -> None:
        self._locals, self._loop = locals, loop
        self._changed = locals.changed_in(loop.body)

    def of(self, node: Node) -> int | None:
        """By the loop's counter, in steps of one; None: another form, or it can't be told."""
        node = bare(node)
        if node.type == "number_literal":
            return 0
        if node.type == "field_expression":
            names = self._locals.names(node)
            moving = {self._loop.key, *self._changed, *filter(self._inner, names)}
            return None if names & moving else 0
        if node.type == "identifier":
            return self._of_name(node)
        if node.type != "binary_expression":
            return None
        operator = node.child_by_field_name("operator").type
        left = self.of(node.child_by_field_name("left"))
        right = self.of(node.child_by_field_name("right"))
        if left is None or right is None:
            return None
        if operator == "+":
            return left + right
        if operator == "-":
            return left - right
        return 0 if left == right == 0 else None

    def _of_name(self, node: Node) -> int | None:
        key = self._locals.key(node)
        if key == self._loop.key:
            return 1
        if key in self._changed:
            return None
        local = self._inner(key)
        if local is None:
            return 0
        value = self._locals.formula(key)
        return None if value is None else self.of(value)

    def _inner(self, key: str) -> Local | None:
        """A variable that each round declares."""
        local = self._locals.declared.get(key)
        body = self._loop.body
        if local is None or not body.start_byte <= local.statement.start_byte < body.end_byte:
            return None
        return local

    def at(self, node: Node, counter: str) -> str:
        """An index's text at a counter's value, without what rounds declare."""
        names = {self._loop.key: counter}
        for key in self._locals.names(node):
            local = self._inner(key)
            if local is not None and local.value is not None:
                names[key] = f"({self.at(local.value, counter)})"
        return self._locals.with_names(node, names)

    def leaves(self, node: Node) -> list[Node]:
        """Names in it, and in what it stands for, but the counter's own."""
        found = []
        for one in variables(node):
            key = self._locals.key(one)
            local = self._inner(key)
            if local is not None and local.value is not None:
                found += self.leaves(local.value)
            elif key != self._loop.key:
                found.append(one)
        return found
