"""Permute kernels: single elements whose inputs lie along another axis than the outputs do, as in
transposes and permutes of any axes, alone or with what is done with each element."""

from dataclasses import dataclass

from evaluators.tasks.arguments import Argument
from evaluators.tasks.task import Task
from operators.catalog.formula.code import Statements, Unwritable
from operators.catalog.formula.node import Node
from operators.catalog.formula.products import Extent, Function, decoded
from operators.catalog.formula.rows import signature_of
from operators.catalog.formula.signature import Signature, ctype, pointer
from operators.catalog.formula.sizes_text import size_text
from operators.catalog.formula.trace import Formula, Output


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """An input that goes through LDS. at: the address of one of its elements."""

    name: str
    type: str
    at: Function


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """An output. at: the address of an element; element: what it becomes, of the tiles' own."""

    name: str
    type: str
    at: Function
    element: Function


@dataclass(frozen=True, slots=True, kw_only=True)
class PermuteKernel:
    """puts[batch, down, along] = element(tiles[batch, down, along], ...): inputs lie along `down`,
    outputs along `along`.

    tile_bytes: of one element of all tiles; widest: bytes of the widest element. aligned: lengths
    that several neighbours must divide; whole: whether those of inputs may be read at once.
    """

    args: str
    parameters: str
    dtypes: str
    passed: str
    headers: list[str]
    real: str
    batches: Extent
    down: Extent
    along: Extent
    tiles: tuple[Tile, ...]
    puts: tuple[Put, ...]
    tile_bytes: int
    widest: int
    aligned: tuple[str, ...]
    whole: bool


def permute_kernel(task: Task, found: Formula) -> PermuteKernel:
    """Raises Unwritable where the formula is of another kind."""
    axes = {output.axes for output in found.outputs}
    if len(axes) != 1 or any(output.element.reductions() for output in found.outputs):
        raise Unwritable("outputs of different shapes, or something is reduced")
    return _Permute(task, found, axes.pop()).kernel()


class _Permute:
    def __init__(self, task: Task, found: Formula, axes: tuple[Node, ...]) -> None:
        self.outputs, self.axes = found.outputs, axes
        self.signature: Signature = signature_of(task, found)
        if any(set(one.element.free) - set(axes) for one in found.outputs) or len(axes) < 2:
            raise Unwritable("a single axis")
        self.tiled = self._tiled()
        self.down = self._down(self.tiled[0])
        self.tiled = [one for one in self.tiled if self._down(one) == self.down]
        self.along = self._along()
        both = {*self.down, *self.along}
        self.batch = [axis for axis in axes if axis not in both]

    def _tiled(self) -> list[Node]:
        """Loads whose neighbours lie along another axis than the outputs', and depend on both."""
        loads = {load: None for one in self.outputs for load in one.element.loads()}
        if any(self.signature.argument(load.value).written for load in loads):
            raise Unwritable("an input that is written")
        found = [load for load in loads if self._is_turned(load)]
        if not found:
            raise Unwritable("nothing lies along another axis")
        return found

    def _is_turned(self, load: Node) -> bool:
        if not load.args or self.signature.argument(load.value).optional:
            return False
        *others, last = load.args
        if any(one.loads() for one in load.args) or len(last.free) != 1:
            return False
        (axis,) = last.free
        return (
            axis is not self.axes[-1]
            and self.axes[-1] in load.free
            and not any(axis in one.free for one in others)
            and _steps_by_one(last, axis)
        )

    def _down(self, load: Node) -> list[Node]:
        """Axes along which the input's elements follow each other, the last one fastest."""
        (fastest,) = load.args[-1].free
        found = [fastest]
        if load.args[-1] is not fastest:
            return found
        for index in reversed(load.args[:-1]):
            if index not in self.axes or index is self.axes[-1] or index in found:
                break
            found.insert(0, index)
        return found

    def _along(self) -> list[Node]:
        """Axes along which the outputs' elements follow each other."""
        found: list[Node] = []
        for axis in reversed(self.axes):
            if axis in self.down:
                break
            found.insert(0, axis)
        return found

    def kernel(self) -> PermuteKernel:
        signature = self.signature
        tiles = [signature.argument(load.value) for load in self.tiled]
        puts = [signature.argument(output.name) for output in self.outputs]
        return PermuteKernel(
            args=signature.args,
            parameters=signature.parameters,
            dtypes=signature.dtypes,
            passed=signature.passed,
            headers=signature.headers,
            real=signature.real,
            batches=self._extent(self.batch),
            down=self._extent(self.down),
            along=self._extent(self.along),
            tiles=tuple(self._tile(f"t{at}", load) for at, load in enumerate(self.tiled)),
            puts=tuple(self._put(f"y{at}", output) for at, output in enumerate(self.outputs)),
            tile_bytes=sum(map(_bytes, tiles)),
            widest=max(map(_bytes, [*tiles, *puts])),
            aligned=self._aligned([*tiles, *puts]),
            whole=all(load.args[-1] is self.down[-1] for load in self.tiled),
        )

    def _extent(self, axes: list[Node]) -> Extent:
        plan, c = (
            " * ".join(size_text(axis.args[0], plan=plan) for axis in axes) or "1"
            for plan in (True, False)
        )
        return Extent(plan=plan, c=c)

    def _scope(self) -> tuple[Statements, list[str]]:
        """Statements in which the axes are known from their numbers."""
        scope, lines = Statements(self.signature.style, "v"), []
        for number, axes in (("batch", self.batch), ("down", self.down), ("along", self.along)):
            lines += decoded(scope, number, axes)
        return scope, lines

    def _tile(self, name: str, load: Node) -> Tile:
        scope, lines = self._scope()
        place = self.signature.place(load, tuple(scope.of(one) for one in load.args))
        at = Function(lines=(*lines, *scope.lines), value=f"&{place}")
        return Tile(name=name, type=self._type(load), at=at)

    def _put(self, name: str, output: Output) -> Put:
        argument = self.signature.argument(output.name)
        scope, lines = self._scope()
        place = self.signature.offset(argument, tuple(scope.of(axis) for axis in self.axes))
        return Put(
            name=name,
            type=ctype(argument),
            at=Function(lines=tuple(lines), value=f"{pointer(argument.name)} + {place}"),
            element=self._element(output.element, ctype(argument)),
        )

    def _element(self, node: Node, kind: str) -> Function:
        if node in self.tiled and self._type(node) == kind:
            return Function(lines=(), value=f"t{self.tiled.index(node)}")  # its bits, as they are
        scope, lines = self._scope()
        for at, load in enumerate(self.tiled):
            source = self.signature.argument(load.value)
            scope.names[load] = self.signature.converted(f"t{at}", load, source)
        value = scope.of(node)
        if kind != self.signature.real:
            value = f"static_cast<{kind}>({value})"
        return Function(lines=(*lines, *scope.lines), value=value)

    def _type(self, load: Node) -> str:
        return ctype(self.signature.argument(load.value))

    def _aligned(self, arguments: list[Argument]) -> tuple[str, ...]:
        """Lengths of rows, and of the axes whose neighbours are read or written at once."""
        lengths = {self.signature.row_length(one) for one in arguments}
        ends = {size_text(axis.args[0], plan=False) for axis in (self.down[-1], self.along[-1])}
        return tuple(sorted(lengths | ends))


def _steps_by_one(index: Node, axis: Node) -> bool:
    """Whether an index goes up or down by one with the axis."""
    if index is axis:
        return True
    depending = [one for one in index.args if axis in one.free]
    others = [one for one in index.args if axis not in one.free]
    turned = index.op == "multiply" and all(one.value == -1 for one in others)
    if index.op not in ("add", "subtract") and not turned:
        return False
    return len(depending) == 1 and _steps_by_one(depending[0], axis)


def _bytes(argument: Argument) -> int:
    """Of an element, the widest where its type is a parameter."""
    return max(one.np_dtype.itemsize for one in (argument, *argument.each.values()))
