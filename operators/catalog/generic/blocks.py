"""Blocks: how many threads they have, and which axis of theirs is which."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evaluators.tasks.task import Task
from operators.catalog.generic.analysis.indices import fields
from operators.catalog.generic.analysis.reading import Function, Node, Reading, Unsure, walk
from operators.catalog.generic.edit import Edit
from operators.catalog.generic.front import Front

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
SIDES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
TILES = (4, 8, 16, 32)
MOST_THREADS = 1024
WHOLE = 64
"""Lanes of the widest wavefronts."""

_LANES = re.compile(
    r"__(?:shfl|ballot|any|all|activemask)|WAVEFRONT|warpSize|tiled_partition|__builtin_amdgcn"
)

LEAST = 8
"""A smaller number in the code is likely to mean something else than a block's width."""


def block_sizes(reading: Reading, task: Task) -> Iterator[Edit]:
    """A block's width becomes a parameter, wherever front matter and code tell it."""
    for sizes in dict.fromkeys(_literal_blocks(reading)):
        wide = [one for one in sizes if one > 1]
        if len(wide) == 1 and _is_free(reading, sizes):
            yield from _one_size(reading, wide[0], _widths(reading), "BLOCK")
        elif len(wide) == 2 and wide[0] == wide[1] and _numbers(reading, wide[0]):
            yield from _one_size(reading, wide[0], TILES, "TILE")
        elif len(wide) == 2 and sizes[2:] in ((), (1,)):
            yield from _two_sides(reading, sizes)


def one_thread(reading: Reading, task: Task) -> Iterator[Edit]:
    """A block of one thread, where the width is one number, or a parameter."""
    for sizes in dict.fromkeys(_literal_blocks(reading)):
        wide = [one for one in sizes if one > 1]
        if len(wide) == 1 and 1 in _widths(reading) and _is_free(reading, sizes):
            yield from _one_size(reading, wide[0], SIZES, "BLOCK", to=[1])


def _widths(reading: Reading) -> tuple[int, ...]:
    """What a block may have; whole wavefronts where lanes exchange values."""
    exchange = _LANES.search(reading.kernel.code) is not None
    return tuple(one for one in SIZES if one >= WHOLE) if exchange else SIZES


def _is_free(reading: Reading, sizes: tuple[int, ...]) -> bool:
    """Whether each kernel with such a block does its work whatever the width: the grid follows it,
    or a loop strides by it."""
    width = str(max(sizes))
    number = re.compile(rf"(?<![\w.]){width}(?![\w.])")
    for name, launches in reading.launched.items():
        own = [one for one in launches if width in [part.text.strip() for part in one.block]]
        grids = all(any(number.search(part.text) for part in one.grid) for one in own)
        function = reading.functions.get(name)
        if own and not grids and (function is None or not _strides(reading, function, width)):
            return False
    return True


def _strides(reading: Reading, function: Function, width: str) -> bool:
    """Whether a loop of it goes on by a block's width, or by a macro of it, each time."""
    for node in walk(function.body):
        update = node.child_by_field_name("update") if node.type == "for_statement" else None
        if update is None or "=" not in reading.text(update):
            continue
        step = reading.text(update).partition("=")[2]
        macro = re.search(rf"#[ \t]*define[ \t]+(\w+)[ \t]+\(?{width}\b", reading.kernel.code)
        words = {"blockDim", width, *([macro[1]] if macro else [])}
        if words & set(re.findall(r"\w+", step)):
            return True
    return False


def _literal_blocks(reading: Reading) -> Iterator[tuple[int, ...]]:
    for launches in reading.launched.values():
        for launch in launches:
            texts = [one.text.strip() for one in launch.block]
            if all(text.isdigit() for text in texts):
                yield tuple(map(int, texts))


def _numbers(reading: Reading, value: int) -> bool:
    """Whether the code says the number, itself or by a macro."""
    return any(_in_macros(reading, value, "")) or any(
        one.type == "number_literal" and _value(one.text.decode()) == value
        for one in walk(reading.root)
    )


def _one_size(
    reading: Reading,
    size: int,
    sizes: tuple[int, ...],
    name: str,
    to: list[int] | None = None,
) -> Iterator[Edit]:
    """to: the values to begin with; None: a quarter and four times as much."""
    if size < LEAST:
        return
    name = reading.free_name(name)
    tiled = name.startswith("TILE")
    others = {one for sizes in _literal_blocks(reading) for one in sizes} - {size}
    for value in to or _others(size, sizes):
        front = Front(reading.kernel)
        front.add(name, value, sizes)
        _in_front(front, size, name, doubles=2 * size not in others)
        edits = [*_in_code(reading, size, name, others), *_in_macros(reading, size, name)]
        try:
            text = front.written(reading.code(edits))
        except Unsure:
            continue
        yield Edit(place={"width": size, "to": value, "tile": int(tiled)}, text=text)


def _others(size: int, sizes: tuple[int, ...]) -> list[int]:
    """A quarter, a sixteenth, and four times as much."""
    wanted = (size // 4, size // 16, size * 4)
    return [one for one in wanted if one in sizes and one != 1] or [
        one for one in (size // 2, size * 2) if one in sizes
    ]


def _in_front(front: Front, size: int, name: str, *, doubles: bool) -> None:
    number = re.compile(rf"(?<![\w.]){size}(?![\w.])")
    double = re.compile(rf"(?<![\w.]){2 * size}(?![\w.])")

    def replaced(value: object) -> object:
        if isinstance(value, bool):
            return value
        if isinstance(value, int):
            return name if value == size else value
        if isinstance(value, str):
            value = number.sub(name, value)
            return double.sub(f"(2 * {name})", value) if doubles else value
        if isinstance(value, list):
            return [replaced(one) for one in value]
        if isinstance(value, dict):
            return {key: one if key == "type" else replaced(one) for key, one in value.items()}
        return value

    for launch in front.launches:
        for key in ("kernel", "grid", "block", "args", "lds_bytes"):
            if key in launch:
                launch[key] = replaced(launch[key])
    front.scratch = {key: str(replaced(one)) for key, one in front.scratch.items()}


def _in_code(
    reading: Reading, size: int, name: str, others: set[int]
) -> Iterator[tuple[int, int, str]]:
    """The width, twice as much, half of it where a loop begins there, and the last thread.
    others: widths of blocks, which no other width stands for."""
    for node in walk(reading.root):
        if node.type != "number_literal":
            continue
        value = _value(node.text.decode())
        if value == size:
            yield node.start_byte, node.end_byte, name
        elif value == 2 * size and size >= 32 and value not in others:
            yield node.start_byte, node.end_byte, f"(2 * {name})"
        elif value == size - 1 and size >= 32:
            yield node.start_byte, node.end_byte, f"({name} - 1)"
        elif 2 * (value or 0) == size and value not in others and _begins_a_loop(node):
            yield node.start_byte, node.end_byte, f"({name} / 2)"


def _begins_a_loop(number: Node) -> bool:
    """Whether it is what a loop's counter begins with."""
    above = number.parent
    if above.type not in ("init_declarator", "assignment_expression"):
        return False
    while above.type in ("init_declarator", "assignment_expression", "declaration"):
        if above.type == "assignment_expression":
            operator = above.child_by_field_name("operator")
            if operator.type != "=":
                return False
        inner, above = above, above.parent
    head = above.child_by_field_name("initializer") if above.type == "for_statement" else None
    return head is not None and head.id == inner.id


def _in_macros(reading: Reading, size: int, name: str) -> Iterator[tuple[int, int, str]]:
    found = re.finditer(
        rb"^[ \t]*#[ \t]*define[ \t]+\w+[ \t]+\(?(\d+)\)?[ \t]*$", reading.data, re.M
    )
    for one in found:
        if int(one[1]) == size:
            yield one.start(1), one.end(1), name


def _value(text: str) -> int | None:
    digits = text.rstrip("uUlL")
    return int(digits) if digits.isdigit() and not (digits[0] == "0" and digits != "0") else None


def _two_sides(reading: Reading, sizes: tuple[int, ...]) -> Iterator[Edit]:
    """Of a block that code and grid know by blockDim, or by numbers of one axis each."""
    if any(_numbers(reading, one) for one in sizes if one > 1) or _sizes_scratch(reading, sizes):
        return
    across, down = sizes[:2]
    for x, y in ((across * 4, max(1, down // 4)), (max(1, across // 4), down * 4), (64, 1)):
        if x not in SIDES or y not in SIDES or (x, y) == (across, down):
            continue
        front = Front(reading.kernel)
        names = [reading.free_name(f"BLOCK_{axis}") for axis in "XY"]
        for name, value in zip(names, (x, y), strict=True):
            front.add(name, value, SIDES)
        front.constraints.append(f"{names[0]} * {names[1]} <= {MOST_THREADS}")
        try:
            for launch in front.launches:
                _sides_of(launch, sizes, names)
            text = front.written(reading.kernel.code)
        except Unsure:
            continue
        yield Edit(place={"x": x, "y": y}, text=text)


def _sizes_scratch(reading: Reading, sizes: tuple[int, ...]) -> bool:
    """Whether a scratch buffer's size names one of them, of which axis nobody knows."""
    texts = " ".join(one.text for one in reading.kernel.scratch.values())
    return any(re.search(rf"(?<![\w.]){one}(?![\w.])", texts) for one in sizes if one > 1)


def _sides_of(launch: dict[str, object], sizes: tuple[int, ...], names: list[str]) -> None:
    block, grid = launch.get("block"), launch.get("grid")
    if not isinstance(block, list) or not isinstance(grid, list):
        return
    if [str(one) for one in block] != [str(one) for one in sizes]:
        return
    for axis, name in enumerate(names):
        number = re.compile(rf"(?<![\w.]){sizes[axis]}(?![\w.])")
        if sizes[axis] > 1 and not number.search(str(grid[axis] if axis < len(grid) else "")):
            raise Unsure
        grid[axis : axis + 1] = [number.sub(name, str(grid[axis]))]
        block[axis] = name


@dataclass(frozen=True, slots=True)
class _Swap:
    """Of the axes x and y."""

    one: str = "x"
    other: str = "y"

    def of(self, axis: str) -> str:
        return {self.one: self.other, self.other: self.one}.get(axis, axis)


def swapped_axes(reading: Reading, task: Task) -> Iterator[Edit]:
    """x and y change their roles, in code and launches: neighbouring threads go down another
    axis of the problem."""
    swap = _Swap()
    for function in reading.kernels:
        others = [one for one in reading.functions.values() if one.name != function.name]
        if any(fields(one.node) for one in others if one.name not in reading.launched):
            continue
        found = fields(function.body)
        if not {"x", "y"} <= {axis for name, axis, _ in found if name == "threadIdx"}:
            continue
        edits = []
        for _, axis, node in found:
            field = node.child_by_field_name("field")
            edits.append((field.start_byte, field.end_byte, swap.of(axis)))
        front = Front(reading.kernel)
        for launch in front.of(function.name):
            for key in ("grid", "block"):
                sizes = launch[key] if isinstance(launch[key], list) else [launch[key]]
                sizes = [*sizes, *([1] * (2 - len(sizes)))]
                launch[key] = [sizes[1], sizes[0], *sizes[2:]]
        try:
            yield Edit(place={"kernel": function.name}, text=front.written(reading.code(edits)))
        except Unsure:
            continue
