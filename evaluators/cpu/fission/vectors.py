"""Forms in which neighbouring threads become one vector: loops side by side, affine indices.

A compiler reads neighbouring elements as one vector where it can follow an address from thread to
thread. g++ 12 gathers, or does not vectorise at all, where an address is taken (&x[i], for x + i)
or an int comes from unsigned sums that might wrap.
"""

from evaluators.cpu.fission.ir import Step, Sweep, Var
from evaluators.cpu.fission.names import PURE_CALLS
from evaluators.cpu.fission.tree import Node, callee, group, leaf, name

_SHORT = ("1", "2", "3", "4")  # strides of a thread's own walk
_CALLS = {"+": "ks_plus", "-": "ks_minus", "*": "ks_times"}
"""In ks/fission.h: as the operator, but of integers of 32 bits as int, which does not wrap."""


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


def follow(statements: list[Node]) -> None:
    """Rewrite a region's statements, whose names are resolved, in place.

    Indices stay as they are where nothing but loads, stores and cheap arithmetic follows: the
    masked stores of AVX2 took y[i] = a * x[i] + b behind if (i < n) 1.5 to 2 times as long.
    """
    costly = any(_is_costly(one) for node in statements for one in node.walk())
    for node in statements:
        for one in list(node.walk()):
            if one.kind == "pointer_expression" and one.kids[0].text == "&":
                _sum_of_address(one)
        if costly and node.kind == "declaration":
            _index(node)


def _is_costly(node: Node) -> bool:
    if node.kind != "call_expression" or node.need("function").kind == "primitive_type":
        return False
    return callee(node) not in PURE_CALLS


def _sum_of_address(node: Node) -> None:
    """&x[i][j] becomes (x[i] + (j)), where x is an array of so many dimensions."""
    element = node.need("argument")
    depth, root = 0, element
    while root.kind == "subscript_expression":
        depth, root = depth + 1, root.need("argument")
    var = root.var
    if depth == 0 or not isinstance(var, Var) or not depth <= var.dims:
        return
    listed = element.need("indices").kids
    if len(listed) == 3:
        node.become(group("sum", node.line, "(", element.need("argument"), "+ (", listed[1], ") )"))


def _index(node: Node) -> None:
    """int i = a + b; becomes int i = ks_plus(a, b);"""
    kinds = [str(kid) for kid in node.kids if kid.field == "type"]
    declarator = node.get("declarator")
    if kinds != ["int"] or declarator is None or declarator.kind != "init_declarator":
        return
    value = declarator.get("value")
    if value is not None and declarator.need("declarator").kind == "identifier":
        _signed(value)


def _signed(node: Node) -> None:
    if node.kind == "parenthesized_expression":
        _signed(node.kids[1])
    elif node.kind == "binary_expression" and node.kids[1].text in _CALLS:
        left, operator, right = node.kids
        for side in (left, right):
            _signed(side)
        called = leaf(f"{_CALLS[operator.text]} (", node.line)
        node.become(group("sum", node.line, called, left, ",", right, ")"))
