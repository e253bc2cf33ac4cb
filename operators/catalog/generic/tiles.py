"""Tiles: what a product-like loop reads again and again, staged through LDS by the whole block."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.guards import condition_of, independent, returns
from operators.catalog.generic.analysis.indices import AXES, Index, alone, below, index_of
from operators.catalog.generic.analysis.locals import LOOPS, Locals, statements
from operators.catalog.generic.analysis.loops import Counting, body_of, counting
from operators.catalog.generic.analysis.reading import Function, Node, Reading, Unsure, inside, walk
from operators.catalog.generic.edit import Edit
from operators.catalog.generic.front import Front


def staged_operands(reading: Reading, task: Task) -> Iterator[Edit]:
    """Of kernels with square blocks and one loop, whose operands depend on one index each."""
    for function in reading.kernels:
        try:
            text = _Tiled(reading, function).text()
        except Unsure:
            continue
        yield Edit(place={"kernel": function.name}, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operand:
    """What is read. axis: of the index that it depends on; array: its tile's name; runs: whether
    neighbouring rounds of the loop read neighbouring elements."""

    node: Node
    axis: int
    array: str
    type: str
    runs: bool


class _Tiled:
    """One kernel. Raises Unsure where it is another one."""

    def __init__(self, reading: Reading, function: Function) -> None:
        self._reading, self._function = reading, function
        if not independent(reading, function):
            raise Unsure
        self._locals = Locals(reading, function)
        self._indices = self._found()
        self._width = self._square()
        body = statements(function.body)
        last = max(one.local.statement.end_byte for one in self._indices.values())
        self._region = [one for one in body if one.start_byte >= last]
        self._tiles = 0

    def _found(self) -> dict[int, Index]:
        """The indices of both axes."""
        launches = self._reading.launched[self._function.name]
        found = {}
        for node in statements(self._function.body):
            for local in self._locals.of(node) if node.type == "declaration" else []:
                index = index_of(self._reading, local, launches)
                fixed = not self._locals.changes(local.key)
                if index and index.threads and fixed and alone(self._reading, self._locals, index):
                    found[index.axis] = index
        if found.keys() != {0, 1}:
            raise Unsure
        return found

    def _square(self) -> str:
        """The text of a block's width, which is its height."""
        sizes = {
            tuple(part.text.strip() for part in launch.block)
            for launch in self._reading.launched[self._function.name]
        }
        block = next(iter(sizes)) if len(sizes) == 1 else ()
        known = {*self._reading.kernel.params}
        if len(block) < 2 or block[0] != block[1] or set(block[2:]) - {"1"}:
            raise Unsure
        if not block[0].isdigit() and block[0] not in known:
            raise Unsure
        return block[0]

    def text(self) -> str:
        """The whole file."""
        guard, body, start, end = self._guarded()
        loops = [one for one in body if one.type in LOOPS]
        loop = counting(self._locals, loops[0]) if len(loops) == 1 else None
        if loop is None or loop.step != "1" or loop.comparison != "<":
            raise Unsure
        at = next(i for i, one in enumerate(body) if one.id == loop.node.id)
        before, after = body[:at], body[at + 1 :]
        for one in before:
            if one.type != "declaration" or inside(one, "subscript_expression", "call_expression"):
                raise Unsure
        if inside(loop.body, *LOOPS) or any(inside(one, *LOOPS) for one in after):
            raise Unsure
        operands = self._operands(loop)
        parts = [
            *(self._reading.text(one) for one in before),
            *(
                f"__shared__ {one.type} {one.array}[{self._width}][{self._width} + 1];"
                for one in operands
            ),
            self._staged(loop, operands, guard),
            f"if ({guard}) {{",
            *(self._reading.text(one) for one in after),
            "}",
        ]
        edits = [(start, end, "\n".join(parts))]
        return Front(self._reading.kernel).written(self._reading.rewritten(self._function, edits))

    def _guarded(self) -> tuple[str, list[Node], int, int]:
        """(condition, what it guards, where that begins and ends). All that is asked are bounds."""
        region = self._region
        place = next((i for i, one in enumerate(region) if one.type == "if_statement"), None)
        if place is None or any(one.type != "declaration" for one in region[:place]):
            raise Unsure
        guard = self._guard = region[place]
        leaves = returns(guard)
        condition = condition_of(guard)
        self._bounds = {
            axis: [
                f"!({self._reading.text(part)})" if leaves else self._reading.text(part)
                for part in below(condition, index.local.name, negated=leaves)
            ]
            for axis, index in self._indices.items()
        }
        parts = [text for texts in self._bounds.values() for text in texts]
        if not all(self._bounds.values()) or len(parts) != 1 + _joints(condition):
            raise Unsure
        if leaves:
            body, end = region[place + 1 :], region[-1].end_byte
        elif place + 1 == len(region) and guard.child_by_field_name("alternative") is None:
            body, end = statements(guard.child_by_field_name("consequence")), guard.end_byte
        else:
            raise Unsure
        if any(inside(one, "return_statement") for one in body):
            raise Unsure
        return " && ".join(parts), body, guard.start_byte, end

    def _operands(self, loop: Counting) -> list[_Operand]:
        """What the loop reads by its counter and one of the indices."""
        found: dict[str, _Operand] = {}
        written = {
            one.child_by_field_name("left").id
            for one in walk(loop.body)
            if one.type == "assignment_expression"
        }
        keys = {axis: index.local.key for axis, index in self._indices.items()}
        settled = {self._guard.id}
        varying = {axis: self._locals.varying({key}, settled) for axis, key in keys.items()}
        for node in walk(loop.body):
            if node.type != "subscript_expression":
                continue
            text = self._reading.text(node)
            names = self._locals.names(node)
            on = [axis for axis in (0, 1) if names & varying[axis]]
            if node.id in written or loop.key not in names or len(on) != 1 or text in found:
                continue
            if names & self._locals.changed_in(loop.body) or varying[on[0]] & names != {
                keys[on[0]]
            }:
                raise Unsure
            found[text] = self._operand(node, on[0], loop)
        if {one.axis for one in found.values()} != {0, 1}:
            raise Unsure
        return [*found.values()]

    def _operand(self, node: Node, axis: int, loop: Counting) -> _Operand:
        array = node.child_by_field_name("argument")
        known = {one.name: one for one in self._function.parameters if one.pointer}
        parameter = known.get(self._locals.key(array)) if array.type == "identifier" else None
        if parameter is None:
            raise Unsure
        self._tiles += 1
        return _Operand(
            node=node,
            axis=axis,
            array=self._reading.free_name(f"{parameter.name}_tile{self._tiles}"),
            type=re.sub(r"\b(?:const|volatile|__restrict__)\b|\*", "", parameter.type).strip(),
            runs=not _is_multiplied(self._locals, node, loop.key),
        )

    def _staged(self, loop: Counting, operands: list[_Operand], guard: str) -> str:
        first = self._reading.free_name(f"{loop.name}_first")
        kind = loop.type.replace("const ", "")
        bound = self._reading.text(loop.bound)
        end = f"{first} + {self._width}"
        body = [
            self._from_tiles(one, operands, f"({loop.name} - {first})") for one in body_of(loop)
        ]
        return "\n".join(
            [
                f"for ({kind} {first} = {loop.start}; {first} < {bound}; "
                f"{first} += {self._width}) {{",
                *(self._load(one, loop, first, bound) for one in operands),
                "__syncthreads();",
                f"if ({guard}) {{",
                f"for ({kind} {loop.name} = {first}; {loop.name} < {end} && {loop.name} < {bound}; "
                f"++{loop.name}) {{",
                *body,
                "}",
                "}",
                "__syncthreads();",
                "}",
            ]
        )

    def _load(self, one: _Operand, loop: Counting, first: str, bound: str) -> str:
        """Neighbouring threads read neighbouring elements: of the loop, or of the index."""
        index = self._indices[one.axis]
        own = f"threadIdx.{AXES[one.axis]}"
        along, other = (
            ("threadIdx.x", "threadIdx.y") if one.runs else ("threadIdx.y", "threadIdx.x")
        )
        name = index.local.name
        if own != other:
            name = f"({name} - {own} + {other})"
        names = {loop.key: f"({first} + {along})", index.local.key: name}
        bounds = [re.sub(rf"\b{index.local.name}\b", name, part) for part in self._bounds[one.axis]]
        tests = " && ".join([*bounds, f"{names[loop.key]} < {bound}"])
        load = self._locals.with_names(one.node, names)
        return f"if ({tests}) {one.array}[threadIdx.y][threadIdx.x] = {load};"

    def _from_tiles(self, node: Node, operands: list[_Operand], place: str) -> str:
        texts = {self._reading.text(one.node): one for one in operands}
        edits = []
        for part in walk(node):
            one = texts.get(self._reading.text(part))
            if part.type == "subscript_expression" and one is not None:
                own = f"threadIdx.{AXES[one.axis]}"
                at = f"[{own}][{place}]" if one.runs else f"[{place}][{own}]"
                edits.append((part.start_byte, part.end_byte, one.array + at))
        return self._reading.replaced(node.start_byte, node.end_byte, edits)


def _joints(condition: Node) -> int:
    """How many times it says && or ||."""
    return sum(1 for one in walk(condition) if one.type in ("&&", "||"))


def _is_multiplied(locals: Locals, node: Node, key: str) -> bool:
    """Whether the loop's counter is a factor somewhere in an address."""
    for one in walk(node):
        if one.type != "binary_expression":
            continue
        if one.child_by_field_name("operator").type == "*" and key in locals.names(one):
            return True
    return False
