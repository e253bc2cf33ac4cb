"""Formula: what a task's outputs are, element by element, read off its reference."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluators.expression import Expression, ExpressionError
from evaluators.tasks.arguments import Argument, Workload
from evaluators.tasks.task import Task
from operators.catalog.formula.node import Graph, Node
from operators.catalog.formula.numeric import TooLarge, values
from operators.catalog.formula.operations import OPERATIONS
from operators.catalog.formula.own_arrays import with_symbols
from operators.catalog.formula.sizes import Scalar, Size
from operators.catalog.formula.traced import Traced, Untraceable, traced

MOST_BYTES = 1 << 20
"""Of the arguments on a shape that a formula is compared on."""

LIKE = 1e-9
"""How near a formula's values must be to the reference's, relative to the largest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One output: its element at the variables axes, one a dimension."""

    name: str
    axes: tuple[Node, ...]
    element: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """graph: made all nodes. Names of sizes are the task's dims."""

    graph: Graph
    outputs: tuple[Output, ...]


_FOUND: dict[str, Formula | None] = {}


def formula(task: Task) -> Formula | None:
    """What the reference computes; None where that can't be read off it, or differs by shape.
    What may be null counts as zeros where it is.

    It is compared with the reference's results on small test shapes.
    """
    if task.hash not in _FOUND:
        _FOUND[task.hash] = _confirmed(task)
    return _FOUND[task.hash]


def _confirmed(task: Task) -> Formula | None:
    workloads = sorted(_workloads(task), key=lambda one: _variety(task, one), reverse=True)
    whole = [one for one in workloads if not any(one.setting.nulls.values())]
    if not whole:
        return None
    try:
        found = read(task, whole[0])
    except (Untraceable, RecursionError):  # or too deep, as many steps in time are
        return None
    small = [one for one in workloads if task.nbytes(one) <= MOST_BYTES]
    tests = [one for one in small if one.suite == "tests"]
    try:
        agreed = [_agrees(task, found, one) for one in tests]
    except (TooLarge, RecursionError):
        return None
    return found if agreed and all(agreed) else None


def _workloads(task: Task) -> list[Workload]:
    """Of every suite and backend that may be shown."""
    return [
        one
        for suite in ("tests", "benchmarks")
        for shapes in task.suites[suite].values()
        for one in shapes
    ]


def _variety(task: Task, workload: Workload) -> tuple[int, int]:
    """What tells dims from one another, and from one; smaller shapes first."""
    sizes = [size for size in workload.dims.values() if size > 1]
    return len(set(sizes)) + len(sizes), -task.nbytes(workload)


def read(task: Task, workload: Workload) -> Formula:
    """Runs the reference on symbols. Raises Untraceable."""
    if any(a.strides or (a.optional and a.written) for a in task.arguments):
        raise Untraceable("strides, or an output that may be null")
    if task.own.epilogue or task.own.inputs or task.own.check:
        raise Untraceable("functions of its own beside the reference")
    graph = Graph(OPERATIONS)
    dims = {name: Size(value, graph.size(name), graph) for name, value in workload.dims.items()}
    attributes = {
        name: _attribute(graph, name, value) for name, value in workload.setting.attributes.items()
    }
    inputs = {
        argument.name: _input(graph, argument, dims)
        for argument in task.arguments
        if argument.role != "out"
    }
    function = with_symbols(task.folder / "reference.py", task.reference_text, graph)
    names = {**task.names(workload, inputs), **dims, **attributes}
    try:
        results = task.own.call(function, names)
    except Untraceable:
        raise
    except Exception as error:  # noqa: BLE001  # numpy may fail in any way on what is no array
        raise Untraceable(f"the reference raised {type(error).__name__}: {error}") from None
    if not isinstance(results, Mapping):
        raise Untraceable("no dict of outputs")
    outputs = []
    for argument in task.outputs:
        if argument.name not in results:
            raise Untraceable(f"no {argument.name}")
        array = traced(graph, results[argument.name])
        axes = tuple(
            graph.var(f"i{place}", dimension_node(graph, dimension, dims))
            for place, dimension in enumerate(argument.dimensions)
        )
        if tuple(map(int, array.shape)) != argument.shape(workload.env):
            raise Untraceable(f"{argument.name} in another shape")
        outputs.append(Output(name=argument.name, axes=axes, element=array.at(axes)))
    return Formula(graph=graph, outputs=tuple(outputs))


def _attribute(graph: Graph, name: str, value: Any) -> Any:
    """A number that knows its name; a boolean is itself, for references decide by it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return Size(value, graph.size(name), graph)
    return Scalar(value, graph.size(name, "float"), graph)


def _input(graph: Graph, argument: Argument, dims: Mapping[str, Size]) -> Traced:
    kind: Any = "float" if argument.floating else "int"
    shape = [_size(graph, one, dims) for one in argument.dimensions]
    return Traced(graph, shape, lambda indices: graph.load(argument.name, indices, kind), kind)


def _size(graph: Graph, dimension: Expression, dims: Mapping[str, Size]) -> int:
    """A dimension of an argument, with its name where that is simple."""
    try:
        plain = dimension.integer({name: int(size) for name, size in dims.items()})
    except ExpressionError:  # an attribute, or a dtype's size
        raise Untraceable("a dimension that is no size") from None
    node = _node_of(graph, dimension.tree, dims)
    return plain if node is None else Size(plain, node, graph)


def _node_of(graph: Graph, tree: ast.expr, dims: Mapping[str, Size]) -> Node | None:
    """None where an expression is more than sums, products and whole quotients of dims."""
    match tree:
        case ast.Constant(value=int() as value):
            return graph.const(value)
        case ast.Name(id=name) if name in dims:
            return dims[name].node
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _OPERATIONS:
            a, b = _node_of(graph, left, dims), _node_of(graph, right, dims)
            return None if a is None or b is None else graph.call(_OPERATIONS[type(op)], a, b)
    return None


_OPERATIONS: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.FloorDiv: "floor_divide",
}


def dimension_node(graph: Graph, dimension: Expression, dims: Mapping[str, Size]) -> Node:
    """An argument's dimension as a node; a constant where it is no simple one."""
    size = _size(graph, dimension, dims)
    return size.node if isinstance(size, Size) else graph.const(size)


def _numbers(workload: Workload) -> dict[str, float]:
    env = {**workload.dims, **workload.setting.attributes}
    return {name: value for name, value in env.items() if not isinstance(value, bool)}


def _agrees(task: Task, found: Formula, workload: Workload) -> bool:
    drawn = task.inputs(workload, seed=1)
    wide = {
        name: array.astype(np.float64 if array.dtype.kind not in "iub" else np.int64)
        for name, array in drawn.items()
    }
    expected = task.reference(workload, {name: one.copy() for name, one in wide.items()})
    wide |= {a.name: np.zeros(a.shape(workload.env)) for a in task.arguments if a.name not in wide}
    for output in found.outputs:
        wanted = expected[output.name]
        try:
            with np.errstate(all="ignore"):
                said = values(output.element, output.axes, wide, _numbers(workload))
        except (ExpressionError, IndexError, ValueError, KeyError):
            return False
        scale = float(np.max(np.abs(wanted), initial=0.0)) if wanted.size else 0.0
        same = np.allclose(
            np.broadcast_to(said, wanted.shape), wanted, rtol=LIKE, atol=LIKE * scale
        )
        if not same:
            return False
    return True
