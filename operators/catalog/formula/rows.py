"""Row kernels: outputs that need reductions along one axis, and then each element by itself."""

from evaluators.tasks.arguments import Argument
from evaluators.tasks.task import Task
from operators.catalog.formula.code import Statements, Unwritable
from operators.catalog.formula.node import Graph, Node
from operators.catalog.formula.row_kernel import NEUTRAL, Pass, RowKernel, Store, Stream, Sum
from operators.catalog.formula.signature import Flat, Signature, ctype, pointer
from operators.catalog.formula.sizes_text import size_text
from operators.catalog.formula.trace import Formula, Output


def row_kernel(task: Task, found: Formula) -> RowKernel:
    """Of outputs with reductions. Raises Unwritable where the formula is of another kind."""
    kernel = _Rows(task, found, signature_of(task, found))
    if not kernel.reductions:
        raise Unwritable("nothing is reduced")
    return kernel.kernel()


def element_kernel(task: Task, found: Formula) -> RowKernel:
    """Of outputs whose elements are each by themselves. Raises Unwritable."""
    flat = _flat(task, found)
    kernel = _Rows(task, flat or found, Flat(task) if flat else signature_of(task, found))
    if kernel.reductions:
        raise Unwritable("something is reduced")
    made = kernel.kernel()
    if made.singles or len(made.passes) != 1:
        raise Unwritable("outputs of single elements")
    return made


def signature_of(task: Task, found: Formula) -> Signature:
    guarded = any(n.op == "where" for o in found.outputs for n in o.element.walk())
    return Signature(task, guarded)


def _flat(task: Task, found: Formula) -> Formula | None:
    """The same over one axis, where every argument that is read lies as the outputs do."""
    shapes = {tuple(d.text for d in task_output.dimensions) for task_output in task.outputs}
    if len(shapes) != 1:
        return None
    (shape,) = shapes
    graph = found.graph
    total = graph.const(1)
    for axis in found.outputs[0].axes:
        total = graph.call("multiply", total, axis.args[0])
    all_of_them = graph.var("i0", total)
    outputs = []
    for output in found.outputs:
        by: dict[Node, Node] = {}
        for node in output.element.loads():
            argument = next(a for a in task.arguments if a.name == node.value)
            if node.args != output.axes or tuple(d.text for d in argument.dimensions) != shape:
                return None
            by[node] = graph.load(node.value, (all_of_them,), node.kind)
        element = graph.replaced(output.element, by)
        if element.free - {all_of_them}:
            return None
        outputs.append(Output(name=output.name, axes=(all_of_them,), element=element))
    return Formula(graph=graph, outputs=tuple(outputs))


class _Rows:
    def __init__(self, task: Task, found: Formula, signature: Signature) -> None:
        self.task, self.found, self.signature = task, found, signature
        self.graph: Graph = found.graph
        self.reductions = self._reductions()
        self.inner = {o.name: self._inner(o) for o in found.outputs}
        self.outer = self._outer()
        self.row = Statements(self.signature.style, "v")
        self._streams: dict[str, Stream] = {}
        self._extents: set[str] = set()

    def _reductions(self) -> list[Node]:
        unique: dict[Node, None] = {}
        for output in self.found.outputs:
            unique.update(dict.fromkeys(output.element.reductions()))
        if any(one.value not in NEUTRAL for one in unique):
            raise Unwritable("places of extremes")
        return list(unique)

    def _inner(self, output: Output) -> Node | None:
        """The output's own axis along a row: its last, if no reduction depends on it."""
        if not output.axes:
            return None
        last = output.axes[-1]
        depends = any(last in one.free for one in output.element.reductions())
        return None if depends or last not in output.element.free else last

    def _outer(self) -> tuple[Node, ...]:
        """The axes whose values a row stands for, the same for all outputs."""
        found = {
            tuple(a for a in output.axes if a is not self.inner[output.name])
            for output in self.found.outputs
        }
        if len(found) != 1:
            raise Unwritable("outputs of different rows")
        (outer,) = found
        for one in self.reductions:
            if one.args[0].args[0].free or not one.free <= set(outer):
                raise Unwritable("a reduction that is no row's")
        return outer

    def kernel(self) -> RowKernel:
        decode = self._decode()
        passes = [self._reducing(level) for level in self._levels()]
        final = self._writing()
        after_lines = self._taken()
        singles = []
        for output in self.found.outputs:
            if self.inner[output.name] is None:
                value = self.row.of(output.element)
                singles.append((self._element(output), self._stored(output, value)))
        after = (*after_lines, *self._taken())
        if final is not None:
            passes.append(final)
        streams = self._kept(passes)
        return RowKernel(
            args=self.signature.args,
            parameters=self.signature.parameters,
            headers=self.signature.headers,
            real=self.signature.real,
            rows=self._rows_text(plan=True),
            rows_in_c=self._rows_text(plan=False),
            decode=decode,
            passes=tuple(passes),
            after=after,
            singles=tuple(singles),
            dtypes=self.signature.dtypes,
            passed=self.signature.passed,
            plan_extent=self._plan_extent(),
            streams=streams,
            aligned=tuple(sorted(self._extents)),
        )

    def _plan_extent(self) -> str:
        inner = next((one for one in self.inner.values() if one is not None), None)
        return size_text(inner.args[0], plan=True) if inner is not None else "1"

    def _levels(self) -> list[list[Node]]:
        """Reductions that one loop can do together: they need only earlier ones."""
        groups: dict[tuple[int, str], list[Node]] = {}
        for one in self.reductions:
            groups.setdefault((one.level, self._extent(one.args[0])), []).append(one)
        return [groups[key] for key in sorted(groups)]

    def _extent(self, variable: Node) -> str:
        return size_text(variable.args[0], plan=False)

    def _rows_text(self, *, plan: bool) -> str:
        texts = []
        for axis in self.outer:
            node = axis.args[0]
            texts.append(size_text(node, plan=plan))
        return " * ".join(texts) or "1"

    def _decode(self) -> tuple[str, ...]:
        """The outer indices from the row's number, the last one fastest."""
        lines, rest = [], "row"
        for place, axis in reversed(list(enumerate(self.outer))):
            name = f"i{place}"
            self.row.names[axis] = name
            size = size_text(axis.args[0], plan=False)
            if place == 0:
                lines.append(f"const int {name} = {rest};")
            else:
                lines.append(f"const int {name} = {rest} % {size};")
                lines.append(f"const int rest{place} = {rest} / {size};")
                rest = f"rest{place}"
        return tuple(lines)

    def _taken(self) -> tuple[str, ...]:
        """The row's statements since the last time."""
        lines, self.row.lines = self.row.lines, []
        return tuple(lines)

    def _loop(self, variable: Node) -> Statements:
        loop = Statements(self.signature.style, "e", outer=self.row, variable=variable)
        loop.names[variable] = "c"
        return loop

    def _reducing(self, group: list[Node]) -> Pass:
        extent = self._extent(group[0].args[0])
        variable = group[0].args[0]
        loop = self._loop(variable)
        streams = []
        for one in group:
            streams += self._read(one.args[1], variable, loop)
        sums = [
            Sum(name=f"r{self.reductions.index(one)}", how=one.value, value=loop.of(one.args[1]))
            for one in group
        ]
        before = self._taken()
        for one, total in zip(group, sums, strict=True):
            self.row.names[one] = total.name
        return Pass(
            before=before,
            extent=extent,
            streams=tuple(dict.fromkeys(streams)),
            lines=tuple(loop.lines),
            sums=tuple(sums),
        )

    def _writing(self) -> Pass | None:
        full = [o for o in self.found.outputs if self.inner[o.name] is not None]
        if not full:
            return None
        streams: list[Stream] = []
        stores = []
        first = self.inner[full[0].name]
        assert first is not None
        loop = self._loop(first)
        extents = set()
        for output in full:
            variable = self.inner[output.name]
            assert variable is not None
            extents.add(self._extent(variable))
            element = self.graph.replaced(output.element, {variable: first})
            streams += self._read(element, first, loop)
            value = loop.of(element)
            stores.append(self._store(output, value))
        if len(extents) != 1:
            raise Unwritable("outputs whose rows differ in length")
        return Pass(
            before=self._taken(),
            extent=extents.pop(),
            streams=tuple(dict.fromkeys(streams)),
            lines=tuple(loop.lines),
            stores=tuple(stores),
        )

    def _read(self, body: Node, variable: Node, loop: Statements) -> list[Stream]:
        """The loads along the row, read at the loop's start."""
        found = []
        for node in body.walk():
            if node.op == "load" and variable in node.free and node not in loop.names:
                stream = self._stream(node, variable)
                if stream is not None:
                    loop.names[node] = stream.name
                    found.append(stream)
        return found

    def _stream(self, node: Node, variable: Node) -> Stream | None:
        """None where an index along the row is more than the variable and an offset."""
        argument = self.signature.argument(node.value)
        texts: list[str] = []
        for index in node.args:
            if variable not in index.free:
                texts.append(self.row.of(index))
            elif index is variable:
                texts.append("c")
            elif index.op == "add" and variable in index.args:
                (offset,) = (one for one in index.args if one is not variable)
                if variable in offset.free:
                    return None
                texts.append(f"c + {self.row.of(offset)}")
            else:
                return None
        element = self.signature.load(node, tuple(texts))
        if element not in self._streams:
            self._streams[element] = self._new_stream(element, node, argument, texts)
        return self._streams[element]

    def _new_stream(self, element: str, node: Node, argument: Argument, texts: list[str]) -> Stream:
        *others, last = texts
        contiguous = (
            node.kind == "float"
            and not argument.optional
            and last.startswith("c")
            and not any(text.startswith("c") for text in others)
            and "min(" not in element
        )
        if contiguous:
            self._extents.add(self.signature.row_length(argument))
            if offset := last.removeprefix("c").removeprefix(" + "):
                self._extents.add(offset)
        base = (*others, "c0" + last.removeprefix("c"))
        return Stream(
            name=f"x{len(self._streams)}",
            element=element,
            contiguous=contiguous,
            base=f"{pointer(argument.name)} + {self.signature.offset(argument, base)}",
        )

    def _kept(self, passes: list[Pass]) -> tuple[Stream, ...]:
        """Streams that several passes of the same length read."""
        counts: dict[Stream, int] = {}
        for one in passes:
            if one.extent == passes[0].extent:
                for stream in one.streams:
                    counts[stream] = counts.get(stream, 0) + 1
        first = passes[0].streams
        return tuple(s for s, count in counts.items() if count > 1 and s in first and s.contiguous)

    def _store(self, output: Output, value: str) -> Store:
        argument = self.signature.argument(output.name)
        base = ""
        if argument.floating:
            texts = [*(self.row.names[axis] for axis in output.axes[:-1]), "c0"]
            base = f"{pointer(argument.name)} + {self.signature.offset(argument, tuple(texts))}"
            self._extents.add(self.signature.row_length(argument))
        return Store(
            name=f"y{self.task.outputs.index(argument)}",
            element=self._element(output),
            value=value,
            single=self._stored(output, value),
            base=base,
        )

    def _element(self, output: Output) -> str:
        argument = self.signature.argument(output.name)
        texts = [
            "c" if axis is self.inner[output.name] else self.row.names[axis] for axis in output.axes
        ]
        return f"{pointer(argument.name)}[{self.signature.offset(argument, tuple(texts))}]"

    def _stored(self, output: Output, value: str) -> str:
        kind = ctype(self.signature.argument(output.name))
        return value if kind == self.signature.real else f"static_cast<{kind}>({value})"
