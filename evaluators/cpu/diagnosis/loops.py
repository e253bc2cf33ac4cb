"""The loops of a kernel file: which lines they stand in, and which stand inside which."""

from collections.abc import Mapping
from dataclasses import dataclass

from evaluators.cpu.fission.tree import LOOPS, Node

DEEPEST = 32
"""Loops further inside are not looked at: nobody's kernel has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLoop:
    """A loop as written. head: the lines of what stands between its parentheses."""

    first_line: int
    last_line: int
    head: frozenset[int]
    inner: "tuple[SourceLoop, ...]"

    @property
    def own_lines(self) -> list[int]:
        """Where a compiler may say that it stands, the likeliest first: one that is left from
        inside stands where it is left. Not where a loop inside stands."""
        within = set(range(self.first_line, self.last_line + 1))
        for loop in self.inner:
            within.difference_update(range(loop.first_line, loop.last_line + 1))
        return [self.first_line, *sorted(self.head), *sorted(within)]

    @property
    def height(self) -> int:
        """Loops from this one to the innermost, both counted."""
        return 1 + max((loop.height for loop in self.inner), default=0)


def source_loops(
    node: Node, functions: Mapping[str, Node], called: set[str], depth: int = 0
) -> tuple[SourceLoop, ...]:
    """Those of a statement, with those of the functions that it names, each function once.

    functions: bodies by name; called: the names of those that were looked at, filled in.
    """
    found: list[SourceLoop] = []
    stack = [node]
    while stack and depth < DEEPEST:
        one = stack.pop()
        if one.kind in LOOPS:
            found.append(_loop(one, functions, called, depth))
            continue
        stack.extend(reversed(one.kids))
        if one.text in functions and one.text not in called:
            called.add(one.text)
            stack.append(functions[one.text])
    return tuple(found)


def _loop(node: Node, functions: Mapping[str, Node], called: set[str], depth: int) -> SourceLoop:
    head, lines = {node.line}, {node.line}
    inner: list[SourceLoop] = []
    for kid in node.kids:
        inner += source_loops(kid, functions, called, depth + 1)
        own = {leaf.line for leaf in kid.leaves() if leaf.line > 0}
        lines |= own
        if kid.field != "body":
            head |= own
    return SourceLoop(
        first_line=node.line, last_line=max(lines), head=frozenset(head), inner=tuple(inner)
    )
