"""Indices of outputs: variables that number the threads or blocks of one axis."""

import re
from dataclasses import dataclass

from evaluators.kernel.front_matter import Launch
from operators.catalog.generic.analysis.locals import Local, Locals
from operators.catalog.generic.analysis.reading import Node, Reading, bare, names_in, walk

AXES = "xyz"
_BUILTINS = ("threadIdx", "blockIdx", "blockDim", "gridDim")


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """axis: 0 to 2. threads: whether it numbers threads, not blocks; width: the text of a
    block's width in it."""

    local: Local
    axis: int
    threads: bool
    width: str


def field(node: Node) -> tuple[str, str] | None:
    """("threadIdx", "x") of such an expression."""
    if node.type != "field_expression":
        return None
    argument = node.child_by_field_name("argument")
    name = argument.text.decode()
    if name not in _BUILTINS:
        return None
    return name, node.child_by_field_name("field").text.decode()


def fields(node: Node) -> list[tuple[str, str, Node]]:
    """All such expressions in it, in order."""
    found = [(field(one), one) for one in walk(node)]
    return [(*one, node) for one, node in found if one is not None]


def index_of(reading: Reading, local: Local, launches: list[Launch]) -> Index | None:
    """What a variable numbers: blockIdx.x * blockDim.x + threadIdx.x, in any order, or blockIdx.x;
    the width may also be told as the launches tell it."""
    if local.value is None or local.form != "identifier":
        return None
    value = bare(local.value)
    one = field(value)
    if one is not None and one[0] == "blockIdx":
        return Index(local=local, axis=AXES.index(one[1]), threads=False, width="1")
    if value.type != "binary_expression" or _operator(value) != "+":
        return None
    product, thread = (bare(kid) for kid in _sides(value))
    if field(product) is not None:
        product, thread = thread, product
    found = field(thread)
    if found is None or found[0] != "threadIdx" or product.type != "binary_expression":
        return None
    block, width = (bare(kid) for kid in _sides(product))
    if field(block) is None or field(block)[0] != "blockIdx":  # type: ignore[index]
        block, width = width, block
    if _operator(product) != "*" or field(block) != ("blockIdx", found[1]):
        return None
    axis = AXES.index(found[1])
    text = reading.text(width)
    if field(width) != ("blockDim", found[1]) and not all(
        _same(launch, axis, text) for launch in launches
    ):
        return None
    return Index(local=local, axis=axis, threads=True, width=text)


def _same(launch: Launch, axis: int, text: str) -> bool:
    return axis < len(launch.block) and launch.block[axis].text.strip() == text


def _operator(node: Node) -> str:
    return str(node.child_by_field_name("operator").type)


def _sides(node: Node) -> tuple[Node, Node]:
    return node.child_by_field_name("left"), node.child_by_field_name("right")


def alone(reading: Reading, locals: Locals, index: Index) -> bool:
    """Whether nothing else in the function tells threads, or blocks, of its axis apart; and no
    function of the file that it may call, as it may no kernel, asks for indices."""
    axis = AXES[index.axis]
    value = index.local.value
    for name, its_axis, node in fields(locals.body):
        within = value is not None and value.start_byte <= node.start_byte < value.end_byte
        if its_axis == axis and name != "blockDim" and not within:
            return False
    kernels = {kernel.name for kernel in reading.kernels}
    for function in reading.functions.values():
        own = function.body.id == locals.body.id or function.name in kernels
        if not own and fields(function.node):
            return False
    return True


def below(condition: Node, index: str, *, negated: bool = False) -> list[Node]:
    """The parts of a condition that keep an index below something, and nothing else: then they
    hold for all smaller ones, too. Empty: it has none, or asks more of the index.

    negated: the condition is one for leaving: i >= N || j >= M.
    """
    condition = bare(condition)
    if index not in names_in(condition) or condition.type != "binary_expression":
        return []
    operator = _operator(condition)
    left, right = (bare(kid) for kid in _sides(condition))
    if operator == ("||" if negated else "&&"):
        found = []
        for kid in (left, right):
            parts = below(kid, index, negated=negated)
            if index in names_in(kid) and not parts:
                return []
            found += parts
        return found
    if right.text.decode() == index:
        left, right = right, left
        operator = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(operator, operator)
    wanted = (">=", ">") if negated else ("<", "<=")
    plain = left.text.decode() == index and operator in wanted and index not in names_in(right)
    return [condition] if plain else []


OWN = re.compile(r"own\d*")
"""Counters of loops over a thread's own outputs, which these edits make."""
