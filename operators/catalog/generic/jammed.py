"""A kernel whose threads compute several outputs each, as a file."""

from operators.catalog.generic.analysis.guards import returns_at
from operators.catalog.generic.analysis.indices import AXES
from operators.catalog.generic.analysis.locals import LOOPS
from operators.catalog.generic.analysis.reading import Node, Unsure, declared_name, walk
from operators.catalog.generic.front import Front
from operators.catalog.generic.together import Together

VALUES = (1, 2, 4, 8, 16, 32)


class Jammed(Together):
    """All outputs of a thread together where all are within bounds, else each by itself."""

    limit = ""
    """The grid's size, where that alone bounds the index: a further parameter."""

    def text(self, count: int) -> str:
        """The whole file. Raises Unsure."""
        reading = self.reading
        front = Front(reading.kernel)
        front.add(self.many, count, VALUES)
        launches = front.of(self.function.name)
        if any("cooperative" in one or "repeat" in one for one in launches):
            raise Unsure
        front.change(
            self.function.name,
            "grid",
            self.index.axis,
            lambda grid: f"ceil_div({grid}, {self.many})",
        )
        statement = self.index.local.statement
        edits = []
        if not self.bounds:
            edits.append(self._limited(front))
        new = self._declaration() + self._rest()
        end = self.function.body.end_byte - 1
        edits.append((statement.start_byte, end, new + "\n"))
        return front.written(reading.rewritten(self.function, edits))

    def _declaration(self) -> str:
        """That of the index becomes that of the first output's; others beside it stay."""
        statement, local = self.index.local.statement, self.index.local
        kind = self.type(statement)
        lines = []
        for one in self.locals.of(statement):
            text = self.reading.text(one.declarator)
            value = self.reading.text(one.value) if one.value is not None else None
            if one.name == local.name:
                text, value = self.first, self._first(value or "")
            elif one.key in self.varying:
                raise Unsure
            lines.append(f"{kind} {text}{'' if value is None else f' = {value}'};")
        return "\n    ".join(lines) + "\n"

    def _first(self, value: str) -> str:
        if not self.apart:
            return f"({value}) * {self.many}"
        axis = AXES[self.index.axis]
        width = self.index.width
        return f"blockIdx.{axis} * ({width} * {self.many}) + threadIdx.{axis}"

    def _rest(self) -> str:
        """What follows the index: all outputs together where all are within bounds, else each by
        itself."""
        region = list(self.region)
        shared: list[Node] = []
        while region and not self.varies(region[0]) and region[0].type != "if_statement":
            shared.append(region.pop(0))
        tests = {
            f"!({text})" if negated else text: None
            for text, negated in (
                (self.of_last(one), returns_at(self.region, key))
                for key, parts in self.bounds.items()
                for one in parts
            )
        }
        if not self.bounds:
            tests = {f"{self.of_last(self._index_name())} < {self.limit}": None}
        return "".join(
            [
                *(f"{self.reading.text(one)}\n" for one in shared),
                f"if ({' && '.join(tests)}) {{\n",
                self._together(region),
                "} else {\n",
                self._each(region),
                "}\n",
            ]
        )

    def _index_name(self) -> Node:
        """The index, where it is declared."""
        name = declared_name(self.index.local.declarator)
        if name is None:
            raise Unsure
        return name

    def _limited(self, front: Front) -> tuple[int, int, str]:
        """The grid itself is the bound: it is handed in, as a further parameter."""
        if self.index.threads:
            raise Unsure
        self.limit = self.reading.free_name("outputs")
        axis = self.index.axis
        for launch in front.of(self.function.name):
            grid = launch["grid"] if isinstance(launch["grid"], list) else [launch["grid"]]
            size = str(grid[axis]) if axis < len(grid) else "1"
            launch["args"] = [*launch["args"], {"value": self._before(size), "type": "int32"}]
        end = self.function.end_of_parameters
        return end, end, f", int {self.limit}"

    def _before(self, grid: str) -> str:
        """The grid as it was, before it was divided among threads with several outputs."""
        start, end = "ceil_div(", f", {self.many})"
        return (
            grid[len(start) : -len(end)] if grid.startswith(start) and grid.endswith(end) else grid
        )

    def _each(self, region: list[Node]) -> str:
        """The statements as they were, for one output after another."""
        local, own, count = self.index.local, self.own, self.many
        kind = self.type(local.statement)
        width = f" * {self.index.width}" if self.apart else ""
        lines = [
            f"for (int {own} = 0; {own} < {count}; ++{own}) {{",
            f"{kind} {local.name} = {self.first} + {own}{width};",
            *([] if self.bounds else [f"if ({local.name} >= {self.limit}) break;"]),
            *map(self._continued, region),
            "}\n",
        ]
        return "\n".join(lines)

    def _continued(self, statement: Node) -> str:
        """A statement that goes on to the next output where it returned."""
        edits = []
        for node in walk(statement):
            if node.type != "return_statement":
                continue
            above = node.parent
            while above.id != self.function.body.id:
                if above.type in (*LOOPS, "switch_statement"):
                    raise Unsure
                above = above.parent
            edits.append((node.start_byte, node.end_byte, "continue;"))
        return self.reading.replaced(statement.start_byte, statement.end_byte, edits)
