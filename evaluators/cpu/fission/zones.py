"""Edits of a source that give its LDS guards: see zoned in exchange.py."""

from collections.abc import Iterable

from evaluators.cpu.fission.emit import UNKNOWN
from evaluators.cpu.fission.exchange import zoned_everywhere
from evaluators.cpu.fission.names import SHARED
from evaluators.cpu.fission.source import Unit
from evaluators.cpu.fission.tree import Node, Spanned, render

Edit = tuple[int, int, str]
"""From a byte of the source up to another one: what shall stand there."""


def zone_edits(unit: Unit, nodes: Iterable[Node]) -> list[Edit]:
    """Of the __shared__ declarations among the nodes, but for those of dynamic LDS."""
    edits: list[Edit] = []
    for node in nodes:
        if not isinstance(node, Spanned) or node.kind != "shared_declaration":
            continue
        if not node.has_leaf("extern"):
            out: list[str] = []
            render(zoned_everywhere(node), out, [UNKNOWN])
            edits.append((_start(unit, node), node.end, "".join(out) + " "))
    return edits


def _start(unit: Unit, node: Spanned) -> int:
    """The marker may stand ahead of what a C++ parser takes for the declaration."""
    markers = [at for at, word in unit.source.markers if word == SHARED and at < node.end]
    return min(node.start, markers[-1])
