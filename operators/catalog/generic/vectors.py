"""Vectors: loops that read and write several neighbouring elements at once, where they are aligned.

What is left over, and all of it where some address is not aligned, is done one by one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.guards import waits
from operators.catalog.generic.analysis.locals import CONTROLS, Locals
from operators.catalog.generic.analysis.loops import (
    Counting,
    body_of,
    counting,
    innermost,
    start_of,
)
from operators.catalog.generic.analysis.pointers import Access, Pointers, distinct
from operators.catalog.generic.analysis.reading import (
    Function,
    Node,
    Reading,
    Unsure,
    inside,
    variables,
)
from operators.catalog.generic.analysis.shared_strides import is_shared_stride
from operators.catalog.generic.analysis.slopes import Slopes
from operators.catalog.generic.edit import Edit, Place
from operators.catalog.generic.front import Front

WIDTHS = (1, 2, 4, 8, 16)
MOST_BYTES = 16
_BYTES: Mapping[str, int] = {
    # of what is not four bytes long
    **dict.fromkeys(("double", "int64_t", "uint64_t", "long long", "float2", "int2"), 8),
    **dict.fromkeys(("__half", "half", "__hip_bfloat16", "__nv_bfloat16", "int16_t"), 2),
    **dict.fromkeys(("uint16_t", "short", "unsigned short"), 2),
    **dict.fromkeys(("char", "int8_t", "uint8_t", "unsigned char", "signed char", "bool"), 1),
    **dict.fromkeys(("float4", "int4", "double2", "uint4"), MOST_BYTES),
}
_CONDITIONAL = frozenset({*CONTROLS, "conditional_expression", "lambda_expression"})
_PACK = """template <typename T>
struct alignas(sizeof(T) * {width} <= 16 ? sizeof(T) * {width} : 16) {pack} {{
    T v[{width}];
}};
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorLoop:
    """shared: whether threads stride through it together. packs: what is read or written at once,
    by its name: all accesses to the same element."""

    loop: Counting
    shared: bool
    packs: Mapping[str, tuple[Access, ...]]


def vector_loops(reading: Reading, task: Task) -> Iterator[Edit]:
    """All such loops of a kernel together, and each by itself."""
    for function in reading.kernels:
        if not distinct(reading, function):
            continue
        try:
            kernel = _Kernel(reading, function)
            found = kernel.loops()
        except Unsure:
            continue
        groups = [found, *([one] for one in found)] if len(found) > 1 else [found] * bool(found)
        for number, group in enumerate(groups):
            widest = kernel.widest(group)
            for width in (widest, widest // 2):
                if width < 2:
                    continue
                try:
                    text = kernel.text(group, width, widest)
                except Unsure:
                    continue
                place: Place = {"kernel": function.name, "loops": number, "width": width}
                yield Edit(place=place, text=text)


class _Kernel:
    def __init__(self, reading: Reading, function: Function) -> None:
        self._reading, self._function = reading, function
        self._locals = Locals(reading, function)
        self._pointers = Pointers(reading, function, self._locals)
        self._width, self._pack = reading.free_name("WIDTH"), reading.free_name("Pack")
        self._names = reading.free_name

    def loops(self) -> list[VectorLoop]:
        found = []
        for node in innermost(self._function.body):
            loop = counting(self._locals, node)
            if loop is None or loop.comparison != "<" or loop.name.startswith("lane"):
                continue
            if (one := self._vector_loop(loop)) is not None:
                found.append(one)
        return found

    def _vector_loop(self, loop: Counting) -> VectorLoop | None:
        locals, pointers = self._locals, self._pointers
        if waits(self._reading.text(loop.body)) or locals.asks_atomics(loop.body):
            return None
        if inside(loop.body, "lambda_expression", "gnu_asm_expression"):
            return None
        if locals.names(loop.body) & pointers.strays:
            return None
        slopes = Slopes(locals, loop)
        packs = self._packs(loop, slopes)
        if not packs:
            return None
        elements = [some[0] for some in packs.values()]
        shared = loop.step != "1"
        if shared and not is_shared_stride(
            self._reading, self._function, locals, pointers, loop, slopes, elements
        ):
            return None
        return VectorLoop(loop=loop, shared=shared, packs=packs)

    def _packs(self, loop: Counting, slopes: Slopes) -> dict[str, tuple[Access, ...]]:
        """Of each pointer that is read or written at neighbouring elements, round after round."""
        found = {}
        for root in self._pointers.parameters:
            own = [one for one in self._pointers.of(root) if _holds(loop.body, one.node)]
            by_text: dict[tuple[str, str], list[Access]] = {}
            for one in own:
                text = self._reading.text(one.index)
                by_text.setdefault((one.pointer, text), []).append(one)
            if any(one.written for one in own) and len(by_text) > 1:
                continue  # one round may need what another has written
            for some in by_text.values():
                if self._is_pack(loop, slopes, some):
                    found[self._names(f"{root}_pack")] = tuple(some)
                    break
        return found

    def _is_pack(self, loop: Counting, slopes: Slopes, some: list[Access]) -> bool:
        first = some[0]
        local = self._locals.declared.get(first.pointer)
        if local is not None and _holds(loop.body, local.statement):
            return False
        if slopes.of(first.index) != 1:
            return False
        written = [one for one in some if one.written]
        if any(not _is_plainly_written(loop, one.node) for one in written):
            return False
        return bool(written) or any(not _is_conditional(loop, one.node) for one in some)

    def widest(self, group: list[VectorLoop]) -> int:
        """As many of the smallest elements as are read at once."""
        kinds = {
            self._pointers.type(some[0].pointer) for one in group for some in one.packs.values()
        }
        return MOST_BYTES // min(_BYTES.get(kind, 4) for kind in kinds)

    def text(self, group: list[VectorLoop], width: int, widest: int) -> str:
        front = Front(self._reading.kernel)
        front.add(self._width, width, [one for one in WIDTHS if one <= widest])
        pack = _PACK.format(width=self._width, pack=self._pack)
        edits = [(0, 0, "\n" + pack)]
        for one in group:
            node = one.loop.node
            start = start_of(self._reading, node)
            edits.append((start, node.end_byte, self._rewritten(one)))
        return front.written(self._reading.rewritten(self._function, edits))

    def _rewritten(self, one: VectorLoop) -> str:
        loop, width = one.loop, self._width
        slopes = Slopes(self._locals, loop)
        kind = re.sub(r"\bconst\b", "", loop.type).strip()
        at, lane = self._names(f"{loop.name}_at"), self._names("lane")
        start, bound, step = f"({loop.start})", self._reading.text(loop.bound), f"({loop.step})"
        if one.shared:
            first = self._names(f"{loop.name}_first")
            head = [f"{kind} {first} = {start};"]
            rounds = f"{kind} {at} = {start} * {width}"
            after = [f"{first} = ({bound}) / {width} * {width} + {start};"]
            aligned = self._aligned(one, slopes, "0")
        else:
            first = at
            head, rounds, after = [f"{kind} {at} = {start};"], "", []
            aligned = self._aligned(one, slopes, at)
        stride = width if loop.step == "1" else f"{step} * {width}"
        return "\n".join(
            [
                "{",
                *head,
                f"if ({aligned}) {{",
                f"for ({rounds}; {at} + ({width} - 1) < {bound}; {at} += {stride}) {{",
                *self._loads(one, slopes, at),
                "#pragma unroll",
                f"for (int {lane} = 0; {lane} < {width}; ++{lane}) {{",
                *(self._lane(one, statement, at, lane) for statement in body_of(loop)),
                "}",
                *self._stores(one, slopes, at),
                "}",
                *after,
                "}",
                f"for ({kind} {loop.name} = {first}; {loop.name} < {bound}; "
                f"{loop.name} += {step}) {{",
                *(self._reading.text(statement) for statement in body_of(loop)),
                "}",
                "}",
            ]
        )

    def _element(self, access: Access, slopes: Slopes, at: str) -> str:
        """Its address."""
        pointer = access.pointer.partition("@")[0]
        return f"&{pointer}[{slopes.at(access.index, at)}]"

    def _packed(self, access: Access) -> str:
        return f"{self._pack}<{self._pointers.type(access.pointer)}>"

    def _aligned(self, one: VectorLoop, slopes: Slopes, at: str) -> str:
        firsts = [some[0] for some in one.packs.values()]
        tests = [
            f"(size_t)({self._element(first, slopes, at)}) % alignof({self._packed(first)}) == 0"
            for first in firsts
        ]
        return " && ".join(tests)

    def _loads(self, one: VectorLoop, slopes: Slopes, at: str) -> Iterator[str]:
        for name, some in one.packs.items():
            kind = self._packed(some[0])
            if all(access.written and _is_set(access.node) for access in some):
                yield f"{kind} {name};"
                continue
            const = "" if any(access.written for access in some) else "const "
            address = self._element(some[0], slopes, at)
            yield f"{const}{kind} {name} = *reinterpret_cast<const {kind}*>({address});"

    def _stores(self, one: VectorLoop, slopes: Slopes, at: str) -> Iterator[str]:
        for name, some in one.packs.items():
            if any(access.written for access in some):
                address = self._element(some[0], slopes, at)
                yield f"*reinterpret_cast<{self._packed(some[0])}*>({address}) = {name};"

    def _lane(self, one: VectorLoop, statement: Node, at: str, lane: str) -> str:
        """A statement of one of the rounds."""
        elements = [
            (access.node, f"{name}.v[{lane}]")
            for name, some in one.packs.items()
            for access in some
            if _holds(statement, access.node)
        ]
        edits = [(node.start_byte, node.end_byte, text) for node, text in elements]
        for node in variables(statement):
            within = any(_holds(element, node) for element, _ in elements)
            if self._locals.key(node) == one.loop.key and not within:
                edits.append((node.start_byte, node.end_byte, f"({at} + {lane})"))
        return self._reading.replaced(statement.start_byte, statement.end_byte, edits)


def _holds(node: Node, part: Node) -> bool:
    return bool(node.start_byte <= part.start_byte and part.end_byte <= node.end_byte)


def _is_plainly_written(loop: Counting, element: Node) -> bool:
    """Whether each round does: by a statement of the loop's body itself."""
    assignment = element.parent
    if assignment.type != "assignment_expression":
        return False
    statement = assignment.parent
    in_body = statement.parent is not None and statement.parent.id == loop.body.id
    plain = in_body and loop.body.type == "compound_statement"
    alone = statement.id == loop.body.id
    return bool(statement.type == "expression_statement" and (plain or alone))


def _is_set(element: Node) -> bool:
    return bool(element.parent.child_by_field_name("operator").type == "=")


def _is_conditional(loop: Counting, node: Node) -> bool:
    """Whether some rounds may do without it."""
    inner = node
    while inner.id != loop.body.id:
        above = inner.parent
        if above.type in _CONDITIONAL:
            return True
        operator = above.child_by_field_name("operator")
        if operator is not None and operator.type in ("&&", "||"):
            return True
        inner = above
    return loop.body.type in _CONDITIONAL
