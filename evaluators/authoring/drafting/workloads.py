"""Sizes for a drafted task: ragged ones to test, the program's own to time."""

import math
from collections.abc import Iterator, Mapping, Sequence

from evaluators.authoring.drafting.sizes import Sizes
from evaluators.authoring.program import terms
from evaluators.authoring.program.arguments import Bound, Pointer, Scalar, scalars
from evaluators.authoring.program.indexing import compared, divisors
from evaluators.authoring.program.terms import Num, Op, Sym, Term

SMALL = (
    (1, 1, 1, 1, 1),
    (64, 64, 64, 64, 64),
    (3, 1000, 40, 5, 2),
    (33, 129, 65, 17, 3),
    (130, 7, 96, 33, 4),
    (257, 300, 31, 9, 1),
)
"""Sizes of tests, by the place of the dim."""
LONE = (1, 64, 255, 1000, 4099, 65537)
"""Of a dim that is alone."""
UNKNOWN = {1: 1 << 24, 2: 4096, 3: 1024, 4: 128}
"""A benchmark's sizes where the program tells none, by the number of dims."""
CPU_ELEMENTS = 1 << 19
"""Of the product of a benchmark's sizes on a processor."""
CPU_WORK = 1 << 23
"""The same where there are three sizes or more."""
GPU_ELEMENTS = 1 << 22
"""At least, where sizes are raised to something worth timing."""

Dims = dict[str, int]


def find_steps(bounds: Sequence[Bound], sizes: Sizes) -> None:
    """What each dim must be a multiple of: it is divided by that, or the kernel checks no bound."""
    known = sizes.values()
    for bound in bounds:
        every = [*bound.grid, *(one.term for one in bound.arguments if isinstance(one, Scalar))]
        every += [
            one.memory.elements
            for one in bound.arguments
            if isinstance(one, Pointer) and one.memory.elements is not None
        ]
        for term in every:
            for name, step in _divided(term, known):
                _raise_step(sizes, name, step)
        for name, step in _tiled(bound, sizes, known):
            _raise_step(sizes, name, step)
        for term in bound.grid:
            if isinstance(term, Op) and term.sign == "ceil_div":
                block = terms.value(term.args[1], known)
                for name in terms.names(term.args[0]):
                    if name in sizes.dims and block and not _checked(bound, name):
                        _raise_step(sizes, name, int(block))


def _tiled(bound: Bound, sizes: Sizes, known: Mapping[str, float]) -> Iterator[tuple[str, int]]:
    """Sizes that the kernel divides by a tile's without a remainder: n / TILE."""
    signature = bound.signature
    tiles = {name: value for name, value in known.items() if name in sizes.params}
    for (_, name, _), given in zip(signature.templates, bound.templates, strict=False):
        found = None if isinstance(given, str) else terms.value(given, known)
        if found is not None:
            tiles[name] = found
    for one in scalars(bound.arguments):
        if isinstance(one.term, Sym) and one.term.name in sizes.dims:
            for tile in divisors(signature.item, one.name):
                if tile in tiles:
                    yield one.term.name, int(tiles[tile])


def _raise_step(sizes: Sizes, name: str, step: int) -> None:
    if name in sizes.dims and step > 1:
        sizes.steps[name] = math.lcm(step, sizes.steps.get(name, 1))


def _checked(bound: Bound, dim: str) -> bool:
    """Whether the kernel compares anything with the parameter that the dim, or something made of
    it, is passed as, or with the dim itself, where it is a macro."""
    item = bound.signature.item
    own = {
        one.name
        for one in bound.arguments
        if isinstance(one, Scalar) and dim in terms.names(one.term)
    }
    return any(compared(item, name) for name in (*own, dim))


def _divided(term: Term, known: Mapping[str, float]) -> Iterator[tuple[str, int]]:
    if not isinstance(term, Op):
        return
    if term.sign == "//" and all(
        isinstance(part, Sym | Num) for part in terms.factors(term.args[0])
    ):
        step = terms.value(term.args[1], known)
        if step:
            for name in terms.names(term.args[0]):
                yield name, int(step)
    for part in term.args:
        yield from _divided(part, known)


def tests(sizes: Sizes) -> list[Dims]:
    """Small ones, each once."""
    free = [name for name in sizes.dims if name not in sizes.fixed]
    rows: list[Dims] = []
    count = len(LONE) if len(free) == 1 else len(SMALL)
    for turn in range(count if sizes.dims else 1):
        dims = {}
        for name, value in sizes.dims.items():
            if name in sizes.fixed and value:
                dims[name] = value
                continue
            place = free.index(name) if name in free else 0
            wanted = LONE[turn] if len(free) == 1 else SMALL[turn][place % 5]
            dims[name] = _stepped(wanted, sizes.steps.get(name, 1), turn)
        if dims not in rows:
            rows.append(dims)
    return rows


def other_attributes(sizes: Sizes) -> dict[str, float | bool]:
    """Switches turned, and decimals halved; integers may be many things, and stay."""
    return {
        name: not value if isinstance(value, bool) else value / 2
        for name, value in sizes.attributes.items()
        if isinstance(value, bool | float)
    }


def _stepped(wanted: int, step: int, turn: int) -> int:
    """A multiple: an odd one where that may be."""
    if step == 1:
        return wanted
    times = max(1, wanted // step)
    return step * (times if times > 1 else 1 + 2 * (turn % 3))


def benchmarks(sizes: Sizes) -> tuple[list[Dims], list[Dims]]:
    """For a processor and for a GPU: about the program's sizes, and ragged ones."""
    free = [name for name in sizes.dims if name not in sizes.fixed]
    usual = UNKNOWN.get(len(free), 32)
    full = {
        name: value or _stepped(usual, sizes.steps.get(name, 1), 0)
        for name, value in sizes.dims.items()
    }
    most = CPU_WORK if len(free) > 2 else CPU_ELEMENTS
    small = _scaled(full, free, sizes, most)
    large = _raised(full, free, sizes)
    cpu = [small, _ragged(small, free, sizes)]
    gpu = [full, large, _ragged(large, free, sizes)]
    return _once(cpu), _once(gpu)


def _once(rows: Sequence[Dims]) -> list[Dims]:
    return [one for i, one in enumerate(rows) if one not in rows[:i]]


def _scaled(dims: Dims, free: Sequence[str], sizes: Sizes, most: int) -> Dims:
    """With the largest size halved until the product is small enough."""
    made = dict(dims)
    while free and math.prod(made[one] for one in free) > most:
        name = max(free, key=lambda one: made[one])
        step = sizes.steps.get(name, 1)
        smaller = max(step, made[name] // 2 // step * step)
        if smaller == made[name]:
            break
        made[name] = smaller
    return made


def _raised(dims: Dims, free: Sequence[str], sizes: Sizes) -> Dims:
    """With sizes doubled until a GPU has something to do."""
    made = dict(dims)
    turn = 0
    while free and math.prod(made[one] for one in free) < GPU_ELEMENTS:
        made[free[turn % len(free)]] *= 2
        turn += 1
    return made


def _ragged(dims: Dims, free: Sequence[str], sizes: Sizes) -> Dims:
    """A little smaller, and no multiple of what tiles are."""
    made = dict(dims)
    for place, name in enumerate(free):
        step = sizes.steps.get(name, 1)
        if made[name] < 8 * step:
            continue
        times = made[name] // step * (7 - place % 2) // 8
        made[name] = step * (times | 1)
    return made
