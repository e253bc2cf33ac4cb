"""Rows: what one thread does in loops, a block does together, with trees where loops reduce."""

from collections.abc import Iterator

from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.guards import condition_of, independent, returns
from operators.catalog.generic.analysis.indices import AXES, Index, alone, below, fields, index_of
from operators.catalog.generic.analysis.locals import LOOPS, Locals, leaves_loop, statements
from operators.catalog.generic.analysis.loops import (
    Counting,
    Reduction,
    body_of,
    counting,
    reductions,
    start_of,
)
from operators.catalog.generic.analysis.reading import Function, Node, Reading, Unsure, inside, walk
from operators.catalog.generic.blocks import SIZES
from operators.catalog.generic.edit import Edit
from operators.catalog.generic.front import Front
from operators.catalog.generic.lanes import is_number, type_of

FIRST = (64, 256)


def block_a_row(reading: Reading, task: Task) -> Iterator[Edit]:
    """Of kernels whose threads have an output, or a row of them, each, and loops for that."""
    for function in reading.kernels:
        try:
            edits = [*_of_kernel(reading, function)]
        except Unsure:
            continue
        yield from edits


def _of_kernel(reading: Reading, function: Function) -> Iterator[Edit]:
    if not independent(reading, function):
        return
    locals = Locals(reading, function)
    body = statements(function.body)
    launches = reading.launched[function.name]
    for place, node in enumerate(body):
        if node.type != "declaration":
            continue
        for local in locals.of(node):
            index = index_of(reading, local, launches)
            if index is None or not index.threads or not alone(reading, locals, index):
                continue
            if len({axis for _, axis, _ in fields(function.body)}) > 1 or len(locals.of(node)) > 1:
                continue
            for threads in FIRST:
                text = _Row(reading, function, locals, index, body[place + 1 :]).text(threads)
                yield Edit(place={"kernel": function.name, "threads": threads}, text=text)


class _Row:
    """One kernel, whose row's index becomes its block's."""

    def __init__(
        self,
        reading: Reading,
        function: Function,
        locals: Locals,
        index: Index,
        region: list[Node],
    ) -> None:
        self._reading, self._function, self._locals = reading, function, locals
        self._index, self._region = index, region
        self._threads = reading.free_name("THREADS")
        self._trees = 0
        self._edits: list[tuple[int, int, str]] = []

    def text(self, threads: int) -> str:
        """The whole file. Raises Unsure: there is no loop to share, or one that can't be."""
        reading, index = self._reading, self._index
        front = Front(reading.kernel)
        axis = AXES[index.axis]
        launches = front.of(self._function.name)
        value = index.local.value
        if len(launches) != 1 or value is None:
            raise Unsure
        for launch in launches:
            block = launch["block"] if isinstance(launch["block"], list) else [launch["block"]]
            if any(str(one) != "1" for place, one in enumerate(block) if place != index.axis):
                raise Unsure
            width = block[index.axis]
            grid = launch["grid"] if isinstance(launch["grid"], list) else [launch["grid"]]
            grid = [*grid, *([1] * (index.axis + 1 - len(grid)))]
            grid[index.axis] = f"({grid[index.axis]}) * ({width})"
            launch["grid"] = grid
            launch["block"] = [
                self._threads if place == index.axis else one for place, one in enumerate(block)
            ]
        front.add(self._threads, threads, [one for one in SIZES if one >= 32])
        self._edits = [(value.start_byte, value.end_byte, f"blockIdx.{axis}")]
        self._shared(self._region)
        if not self._trees:
            raise Unsure
        return front.written(reading.rewritten(self._function, self._edits))

    def _shared(self, region: list[Node]) -> None:
        """Statements that all threads of the block go through together."""
        for node in region:
            if node.type == "if_statement" and self._is_guard(node):
                if not returns(node):
                    self._shared(statements(node.child_by_field_name("consequence")))
                continue
            if node.type in LOOPS:
                self._loop(node)
            elif inside(node, *LOOPS) or inside(node, "return_statement"):
                raise Unsure
            elif node.type != "declaration":
                self._once(node)

    def _is_guard(self, node: Node) -> bool:
        """Whether its condition is of the row alone, so that a block agrees on it."""
        if node.child_by_field_name("alternative") is not None:
            return False
        name = self._index.local.name
        return bool(below(condition_of(node), name, negated=returns(node)))

    def _once(self, node: Node) -> None:
        """A statement that only computes is for all threads, one that stores for the first."""
        if node.type != "expression_statement":
            raise Unsure
        stores = self._locals.asks_atomics(node) or any(
            one.type == "assignment_expression"
            and one.child_by_field_name("left").type != "identifier"
            for one in walk(node)
        )
        if stores:
            text = f"if (threadIdx.{AXES[self._index.axis]} == 0) {{ {self._reading.text(node)} }}"
            self._edits.append((node.start_byte, node.end_byte, text))
        elif inside(node, "call_expression") and not inside(node, "assignment_expression"):
            raise Unsure

    def _loop(self, node: Node) -> None:
        loop = counting(self._locals, node)
        if loop is None or leaves_loop(loop.body) or self._locals.asks_atomics(loop.body):
            raise Unsure
        if any(inside(kid, *LOOPS) for kid in loop.body.children):
            raise Unsure
        reduced = reductions(self._locals, loop)
        if reduced is None or not all(is_number(self._locals, one) for one in reduced):
            raise Unsure
        start = start_of(self._reading, node)
        self._edits.append((start, node.end_byte, self._cut(loop, reduced)))

    def _cut(self, loop: Counting, reduced: list[Reduction]) -> str:
        """The loop in strides of the block, with a tree for each reduction."""
        free = self._reading.free_name
        thread = f"threadIdx.{AXES[self._index.axis]}"
        names: dict[str, str] = {}
        before, after = [], []
        for one in reduced:
            self._trees += 1
            local = self._locals.declared[one.key]
            kind = type_of(self._reading, local.statement)
            own, part = free(f"{local.name}_own"), free(f"{local.name}_part{self._trees}")
            names[one.key] = own
            first = {"+": "0", "*": "1"}.get(one.kind, local.name)
            before += [f"__shared__ {kind} {part}[{self._threads}];", f"{kind} {own} = {first};"]
            after += self._tree(part, own, local.name, one.kind, thread)
        step = f"{self._threads} * ({loop.step})" if loop.step != "1" else self._threads
        begin = f"({loop.start}) + {thread}" + ("" if loop.step == "1" else f" * ({loop.step})")
        kind, bound = loop.type.replace("const ", ""), self._reading.text(loop.bound)
        return "\n".join(
            [
                "{",
                *before,
                f"for ({kind} {loop.name} = {begin}; {loop.name} {loop.comparison} {bound}; "
                f"{loop.name} += {step}) {{",
                *(self._locals.with_names(one, names) for one in body_of(loop)),
                "}",
                *(after or ["__syncthreads();"]),
                "}",
            ]
        )

    def _tree(self, part: str, own: str, name: str, kind: str, thread: str) -> list[str]:
        def joined(left: str, right: str) -> str:
            return f"{left} {kind} {right}" if kind in "+*" else f"{kind}({left}, {right})"

        half = self._reading.free_name("half")
        pair = joined(f"{part}[{thread}]", f"{part}[{thread} + {half}]")
        return [
            f"{part}[{thread}] = {own};",
            "__syncthreads();",
            f"for (int {half} = {self._threads} / 2; {half} > 0; {half} /= 2) {{",
            f"if ({thread} < {half}) {{ {part}[{thread}] = {pair}; }}",
            "__syncthreads();",
            "}",
            f"{name} = {joined(name, f'{part}[0]')};",
        ]
