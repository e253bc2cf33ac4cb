"""Product kernels: sums of products of two factors, as in matrix products, linear layers and
convolutions, and what is done with each sum."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluators.tasks.task import Task
from operators.catalog.formula.code import Statements, Unwritable
from operators.catalog.formula.node import Graph, Node
from operators.catalog.formula.rows import signature_of
from operators.catalog.formula.signature import ctype, pointer
from operators.catalog.formula.sizes_text import size_text
from operators.catalog.formula.trace import Formula


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """Statements and the value that they lead to."""

    lines: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How many there are of something, for the front matter and as C."""

    plan: str
    c: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductKernel:
    """out[batch, row, column] = put(sum over step of left(batch, row, step) * right(batch,
    column, step)). along: whether neighbouring columns of right lie beside each other."""

    args: str
    parameters: str
    dtypes: str
    passed: str
    headers: list[str]
    real: str
    batches: Extent
    rows: Extent
    columns: Extent
    steps: Extent
    left: Function
    right: Function
    put: Function
    element: str
    along: bool


def product_kernel(task: Task, found: Formula) -> ProductKernel:
    """Raises Unwritable where the formula is of another kind."""
    if len(found.outputs) != 1:
        raise Unwritable("several outputs")
    return _Product(task, found).kernel()


class _Product:
    def __init__(self, task: Task, found: Formula) -> None:
        (self.output,) = found.outputs
        self.graph: Graph = found.graph
        self.signature = signature_of(task, found)
        self.total = self._sum()
        self.steps, self.left, self.right = self._factors()
        self.batch, self.rows, self.columns = self._axes()

    def _sum(self) -> Node:
        """The one sum, all of its loops taken together."""
        sums = self.output.element.reductions()
        outermost = [one for one in sums if not any(one in other.args for other in sums)]
        if len(outermost) != 1 or any(one.value != "sum" for one in sums):
            raise Unwritable("no single sum")
        return outermost[0]

    def _factors(self) -> tuple[list[Node], list[Node], list[Node]]:
        """The sum's variables, outermost first, and the factors on either side."""
        steps, body = [], self.total
        while body.op == "reduce":
            variable, body = body.args
            if variable.args[0].free:
                raise Unwritable("a sum up to an index")
            steps.append(variable)
        if body.reductions() or not self.output.axes:
            raise Unwritable("sums inside of a sum")
        factors = list(_factors(body))
        columns = [axis for axis in reversed(self.output.axes) if axis in self.total.free]
        if not columns:
            raise Unwritable("one sum for all")
        last = columns[0]
        right = [one for one in factors if last in one.free]
        left = [one for one in factors if last not in one.free]
        if not left or not right or not any(one.loads() for one in left):
            raise Unwritable("no product of two")
        return steps, left, right

    def _axes(self) -> tuple[list[Node], list[Node], list[Node]]:
        """Those of both sides, of the left one alone, of the right one alone."""
        on_left = frozenset().union(*(one.free for one in self.left))
        on_right = frozenset().union(*(one.free for one in self.right))
        batch, rows, columns = [], [], []
        for axis in self.output.axes:
            if axis in on_left and axis in on_right:
                batch.append(axis)
            elif axis in on_right:
                columns.append(axis)
            else:
                rows.append(axis)
        if not rows:
            raise Unwritable("a product with a vector")
        return batch, rows, columns

    def kernel(self) -> ProductKernel:
        signature = self.signature
        element, put = self._put()
        return ProductKernel(
            args=signature.args,
            parameters=signature.parameters,
            dtypes=signature.dtypes,
            passed=signature.passed,
            headers=signature.headers,
            real=signature.real,
            batches=self._extent(self.batch),
            rows=self._extent(self.rows),
            columns=self._extent(self.columns),
            steps=self._extent(self.steps),
            left=self._factor(self.left, self.rows, "row"),
            right=self._factor(self.right, self.columns, "column"),
            put=put,
            element=element,
            along=self._is_along(),
        )

    def _extent(self, axes: Sequence[Node]) -> Extent:
        plan, c = (
            " * ".join(size_text(axis.args[0], plan=plan) for axis in axes) or "1"
            for plan in (True, False)
        )
        return Extent(plan=plan, c=c)

    def _scope(self, axes: dict[str, Sequence[Node]]) -> tuple[Statements, list[str]]:
        """Statements in which the axes' values are known from their numbers."""
        scope = Statements(self.signature.style, "v")
        lines: list[str] = []
        for number, own in axes.items():
            lines += decoded(scope, number, own)
        return scope, lines

    def _factor(self, factors: Sequence[Node], axes: Sequence[Node], number: str) -> Function:
        scope, lines = self._scope({"batch": self.batch, number: axes, "step": self.steps})
        product = factors[0]
        for one in factors[1:]:
            product = self.graph.call("multiply", product, one)
        value = scope.of(product)
        return Function(lines=(*lines, *scope.lines), value=value)

    def _put(self) -> tuple[str, Function]:
        """Where an element goes, and what it is once its sum is known."""
        scope, lines = self._scope({"batch": self.batch, "row": self.rows, "column": self.columns})
        scope.names[self.total] = "sum"
        argument = self.signature.argument(self.output.name)
        value = scope.of(self.output.element)
        if ctype(argument) != self.signature.real:
            value = f"static_cast<{ctype(argument)}>({value})"
        texts = tuple(scope.of(axis) for axis in self.output.axes)
        place = f"{pointer(argument.name)}[{self.signature.offset(argument, texts)}]"
        return place, Function(lines=(*lines, *scope.lines), value=value)

    def _is_along(self) -> bool:
        """Whether the last column axis is the last index of what the right side reads."""
        loads = [load for one in self.right for load in one.loads()]
        return any(load.args and load.args[-1] is self.columns[-1] for load in loads)


def _factors(node: Node) -> Iterator[Node]:
    if node.op == "multiply":
        for one in node.args:
            yield from _factors(one)
    else:
        yield node


def decoded(scope: Statements, number: str, axes: Sequence[Node]) -> list[str]:
    """Lines that take a number apart into axes, the last one fastest."""
    if len(axes) == 1:
        scope.names[axes[0]] = number
        return []
    lines, rest = [], number
    for place, axis in reversed(list(enumerate(axes))):
        name = f"{number}{place}"
        scope.names[axis] = name
        if place == 0:
            lines.append(f"const int {name} = {rest};")
            continue
        size = size_text(axis.args[0], plan=False)
        lines.append(f"const int {name} = {rest} % {size};")
        lines.append(f"const int {number}_rest{place} = {rest} / {size};")
        rest = f"{number}_rest{place}"
    return lines
