"""Scan kernels: outputs whose elements need what lies before them along the last axis."""

from dataclasses import dataclass

from evaluators.tasks.task import Task
from operators.catalog.formula.code import Statements, Unwritable
from operators.catalog.formula.node import Node
from operators.catalog.formula.products import Extent, Function, decoded
from operators.catalog.formula.row_kernel import JOINS, NEUTRAL
from operators.catalog.formula.rows import signature_of
from operators.catalog.formula.signature import Signature, ctype, pointer
from operators.catalog.formula.sizes_text import size_text
from operators.catalog.formula.trace import Formula


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanKernel:
    """out[row, at] = put(join of element(row, 0) to element(row, at))."""

    args: str
    parameters: str
    dtypes: str
    passed: str
    headers: list[str]
    real: str
    rows: Extent
    length: Extent
    element: Function
    put: Function
    place: str
    join: str
    neutral: str


def scan_kernel(task: Task, found: Formula) -> ScanKernel:
    """Raises Unwritable where the formula is of another kind."""
    if len(found.outputs) != 1:
        raise Unwritable("several outputs")
    (output,) = found.outputs
    *outer, last = output.axes
    reductions = output.element.reductions()
    if len(reductions) != 1 or not reductions[0].args[0].args[0].free:
        raise Unwritable("no single scan")
    (scan,) = reductions
    variable, body = scan.args
    end = variable.args[0]
    up_to_here = end.op == "add" and last in end.args and end.args[1].value == 1
    if not up_to_here or last in body.free or scan.value not in ("sum", "prod", "max", "min"):
        raise Unwritable("a sum up to something else")
    signature = signature_of(task, found)
    argument = signature.argument(output.name)
    element = _function(signature, outer, body, {variable: "at"})
    put = _function(signature, outer, output.element, {last: "at", scan: "joined"})
    if ctype(argument) != signature.real:
        value = f"static_cast<{ctype(argument)}>({put.value})"
        put = Function(lines=put.lines, value=value)
    names = {axis: f"row{place}" if len(outer) > 1 else "row" for place, axis in enumerate(outer)}
    texts = (*(names[axis] for axis in outer), "at")
    return ScanKernel(
        args=signature.args,
        parameters=signature.parameters,
        dtypes=signature.dtypes,
        passed=signature.passed,
        headers=signature.headers,
        real=signature.scanned(body.kind),
        rows=_extent(outer),
        length=_extent([last]),
        element=element,
        put=put,
        place=f"{pointer(argument.name)}[{signature.offset(argument, texts)}]",
        join=JOINS[scan.value],
        neutral=_neutral(scan.value, body.kind),
    )


def _neutral(how: str, kind: str) -> str:
    if kind == "float" or how in ("sum", "prod"):
        return NEUTRAL[how]
    raise Unwritable("an extreme of integers up to an index")


def _extent(axes: list[Node]) -> Extent:
    plan, c = (
        " * ".join(size_text(axis.args[0], plan=plan) for axis in axes) or "1"
        for plan in (True, False)
    )
    return Extent(plan=plan, c=c)


def _function(
    signature: Signature, outer: list[Node], node: Node, names: dict[Node, str]
) -> Function:
    scope = Statements(signature.style, "v")
    lines = decoded(scope, "row", outer)
    scope.names.update(names)
    value = scope.of(node)
    return Function(lines=(*lines, *scope.lines), value=value)
