"""Guards: conditions that keep threads without work away, and what waits for other threads."""

import re

from operators.catalog.generic.analysis.locals import statements
from operators.catalog.generic.analysis.reading import (
    Function,
    Node,
    Reading,
    inside,
    names_in,
    walk,
)

_TOGETHER = re.compile(
    r"\b(?:__sync|__shfl|__shared|__ball|__any|__all|__act|cooperative|cg)\w*"
    r"|\bWAVEFRONT\b|\bextern\b|__builtin_amd"
)
_REFUSED = ("lambda_expression", "goto_statement", "for_range_loop", "try_statement")


def independent(reading: Reading, function: Function) -> bool:
    """Whether threads of it neither wait for each other nor share LDS, and it is plain enough."""
    seen: set[str] = set()
    left = [function]
    while left:
        one = left.pop()
        if one.name in seen:
            continue
        seen.add(one.name)
        if _TOGETHER.search(reading.text(one.node)) or one.node.has_error:
            return False
        for word in names_in(one.node):
            if word in reading.functions:
                left.append(reading.functions[word])
    return reading.plain(function) and not inside(function.body, *_REFUSED)


def waits(text: str) -> bool:
    """Whether code waits for other threads, or asks them something."""
    return _TOGETHER.search(text) is not None


def condition_of(if_statement: Node) -> Node:
    clause = if_statement.child_by_field_name("condition")
    return clause.child_by_field_name("value") or clause


def returns(node: Node) -> bool:
    """if (...) return; without an else."""
    if node.type != "if_statement" or node.child_by_field_name("alternative") is not None:
        return False
    inner = statements(node.child_by_field_name("consequence"))
    return len(inner) == 1 and inner[0].type == "return_statement"


def returns_at(region: list[Node], key: int) -> bool:
    return any(one.id == key and returns(one) for kid in region for one in walk(kid))
