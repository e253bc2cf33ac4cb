"""Shared strides: loops that a block's, or all, threads stride through together, each round by
whoever, so that another thread may as well have it."""

import re
from collections.abc import Iterable

from evaluators.kernel.front_matter import Launch
from operators.catalog.generic.analysis.guards import condition_of
from operators.catalog.generic.analysis.indices import fields, index_of
from operators.catalog.generic.analysis.locals import CONTROLS, Locals
from operators.catalog.generic.analysis.loops import Counting, reductions
from operators.catalog.generic.analysis.pointers import Access, Pointers
from operators.catalog.generic.analysis.reading import Function, Node, Reading, variables, walk
from operators.catalog.generic.analysis.slopes import Slopes

_GRID = ("gridDim.x*blockDim.x", "blockDim.x*gridDim.x")


def is_shared_stride(
    reading: Reading,
    function: Function,
    locals: Locals,
    pointers: Pointers,
    loop: Counting,
    slopes: Slopes,
    elements: Iterable[Access],
) -> bool:
    """Whether its rounds may be dealt out anew, neighbours to one thread. elements: those whose
    addresses all threads must agree on.

    Each thread begins at its number and steps by how many there are; rounds are joined by
    reductions alone; and no thread relies on having had a round in another loop.
    """
    stride = _Stride(reading, function, locals, loop)
    return (
        stride.is_by_all
        and reductions(locals, loop) is not None
        and stride.is_agreed(loop.bound)
        and all(stride.is_agreed_element(slopes, one) for one in elements)
        and stride.is_met_by_all()
        and _is_own_business(locals, pointers, loop, slopes)
    )


class _Stride:
    """What threads agree on where one loop stands."""

    def __init__(
        self, reading: Reading, function: Function, locals: Locals, loop: Counting
    ) -> None:
        self._locals, self._function, self._loop = locals, function, loop
        launches = reading.launched[function.name]
        line = all(part.text.strip() == "1" for one in launches for part in one.block[1:])
        flat = line and all(part.text.strip() == "1" for one in launches for part in one.grid[1:])
        start, step = self._meaning(loop.start), self._meaning(loop.step)
        widths = {"".join(one.block[0].text.split()) for one in launches}
        block = step == "blockDim.x" or (len(widths) == 1 and step in widths)
        by_block = line and block and start == "threadIdx.x"
        by_grid = flat and step in _GRID and self._is_index(launches)
        self.is_by_all = by_block or by_grid
        own = ("threadIdx",) if by_block else ("threadIdx", "blockIdx")
        self._own = own
        first = {
            key
            for key, local in locals.declared.items()
            if local.value is not None and self._asks(local.value)
        }
        self._varying = locals.varying(first, ())

    def _meaning(self, text: str) -> str:
        """Without blanks, casts and parentheses; of a variable what it was declared as."""
        for _ in range(3):
            plain = re.sub(r"\s|\((?:int|unsigned|size_t|long)\)", "", text)
            plain = re.sub(r"^\(0\)\+", "", plain).replace("(", "").replace(")", "")
            local = self._locals.declared.get(plain)
            if local is None or local.value is None or self._locals.changes(plain):
                break
            text = local.value.text.decode()
        return plain

    def _is_index(self, launches: list[Launch]) -> bool:
        """Whether it begins at a thread's number in the grid."""
        head = self._loop.node.child_by_field_name("initializer")
        (local,) = self._locals.of(head)
        while local.value is not None and local.value.type == "identifier":
            known = self._locals.declared.get(self._locals.key(local.value))
            if known is None or self._locals.changes(known.key):
                return False
            local = known
        found = index_of(self._locals.reading, local, launches)
        return found is not None and found.threads and found.axis == 0

    def _asks(self, node: Node) -> bool:
        return any(name in self._own for name, _, _ in fields(node))

    def is_agreed(self, node: Node) -> bool:
        """Whether it has the same value for all threads."""
        return not self._asks(node) and not self._locals.depends(node, self._varying)

    def is_agreed_element(self, slopes: Slopes, access: Access) -> bool:
        leaves = slopes.leaves(access.index)
        names = {self._locals.key(one) for one in leaves} | {access.pointer}
        asked = any(one.text.decode() in self._own for one in leaves)
        return not asked and not names & self._varying

    def is_met_by_all(self) -> bool:
        """Whether no thread passes the loop by, or leaves before it."""
        loop = self._loop.node
        returns = (one for one in walk(self._function.body) if one.type == "return_statement")
        return all(self._is_agreed_control(one) for one in (loop, *returns))

    def _is_agreed_control(self, node: Node) -> bool:
        while node.id != self._function.body.id:
            node = node.parent
            if node.type not in CONTROLS:
                continue
            condition = node.child_by_field_name("condition")
            if condition is None or not self.is_agreed(
                condition_of(node) if node.type == "if_statement" else condition
            ):
                return False
        return True


def _is_own_business(locals: Locals, pointers: Pointers, loop: Counting, slopes: Slopes) -> bool:
    """Whether what rounds write is nobody's in the rest of the kernel, and what they read is
    written by nobody there; each thread may then have had other rounds before."""
    start, end = loop.node.start_byte, loop.node.end_byte

    def within(node: Node) -> bool:
        return bool(start <= node.start_byte < end)

    for root in pointers.parameters:
        own = [one for one in pointers.of(root) if within(one.node)]
        others = [one for one in pointers.of(root) if not within(one.node)]
        if own and others and any(one.written for one in (*own, *others)):
            return False
    changed = locals.changed_in(loop.body)
    for node in variables(loop.body):
        local = locals.declared.get(locals.key(node))
        if local is None or local.form != "array_declarator" or within(local.statement):
            continue
        element = node.parent
        if local.key in changed or element.type != "subscript_expression":
            return False
        indices = element.child_by_field_name("indices").named_children
        if any(slopes.of(one) != 0 for one in indices):
            return False
    return True
