"""Loops in which the threads of a block walk over an array side by side."""

from evaluators.cpu.fission.ir import Step, Sweep
from evaluators.cpu.fission.tree import Node, group, leaf, name

_SHORT = ("1", "2", "3", "4")  # strides of a thread's own walk


def sweep(whole: Step, passed: str) -> Sweep | None:
    """The loop as a Sweep, if it has the form."""
    node = whole.node
    start, cond, update = node.get("initializer"), node.get("condition"), node.get("update")
    if whole.exits or start is None or cond is None or update is None:
        return None
    if any(one.text in ("/", "%", "/=", "%=") for one in node.leaves()):
        return None  # indices that jump are gathered and scattered, which takes longer
    if start.kind != "declaration" or len(start.all("declarator")) != 1:
        return None
    declarator = start.need("declarator")
    if declarator.kind != "init_declarator" or declarator.need("declarator").kind != "identifier":
        return None
    index = declarator.need("declarator").text
    stride = _stride(update, index)
    if stride is None or (stride.kind == "number_literal" and stride.text in _SHORT):
        return None
    start, cond, stride = start.copy(), cond.copy(), stride.copy()
    line = node.line
    declarator = start.need("declarator")
    value = declarator.need("value")
    signs = (leaf("(", line, "sign"), leaf(") +", line, "sign"))  # not "generated": it is pure
    total = group("binary_expression", line, signs[0], value.copy(), signs[1], name(passed, line))
    value.become(total)
    body = node.need("body")
    return Sweep(
        whole=whole,
        index=Step(start),
        passed=passed,
        cond=cond,
        stride=stride,
        body=Step(body.copy()),
        guarded=Step(group("if_statement", line, "if (", cond.copy(), ")", body.copy())),
    )


def _stride(update: Node, index: str) -> Node | None:
    if update.kind != "assignment_expression" or update.need("left").text != index:
        return None
    if update.need("operator").text != "+=":
        return None
    return update.need("right")
