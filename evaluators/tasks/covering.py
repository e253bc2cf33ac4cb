"""Further held-out shapes, derived for every task: ragged ones that meet every remainder."""

import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from evaluators.tasks.relations import always, related, settings_of
from evaluators.tasks.workload import Setting, Workload

LEAST, MOST = 6, 10
"""Small shapes. In each some dim meets something new, as long as there is anything left."""
TRIES = 200
REMAINDERS = 4
"""Each dim meets every remainder modulo so many times what divides all its stated values."""
EDGES = (-1, 0, 1)
"""Beside a power of two, in the same unit: one below, at and above it; tiles are such."""
MANY = 4
"""So many dims that vary make one array, often, which must stay small."""
POWERS = (4, 8, 14)
"""The small shapes' dims are about 2 to the power of the first (of 0, where they are MANY) to the
second, a lonely one up to that of the third."""
CYCLE = 128
"""A swept dim meets the remainders modulo it evenly, in units of what divides its stated values."""
GOLDEN = (math.sqrt(5) - 1) / 2
"""Its multiples leave no wide gap modulo 1, however many they are (Knuth, TAOCP 3, 6.4)."""
SPREAD = (2, 2, 2, 0)
"""So many dims of a swept shape, in turn, meet the next remainder; the others have any size."""
SWEPT_POWERS = (12, 17)
"""A swept dim is at most 2 to the power of the first, a lonely one of the second."""
ENLARGED = (4.0, 3.0, 2.0, 1.5)
"""Times each dim of a shape above another, tried in turn."""
SWEPT_TRIES, LESS = 24, 8
"""For one swept shape; after so many of them one dim less meets its next remainder."""

Dims = dict[str, int]
Cell = tuple[str, str, int]
"""A dim, and the remainder, or the place beside a power of two, that it is to meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Values of one dim: multiples of step from least to most times."""

    step: int
    least: int
    most: int

    @property
    def fixed(self) -> bool:
        return self.least == self.most


def covering_shapes(
    stated: Sequence[Workload], admits: Callable[[Workload], bool]
) -> tuple[Workload, ...]:
    """Small shapes in which each dim meets every remainder, the same for the same stated ones.

    A dim stays between its stated values and a multiple of what divides all of them, a divisor of
    another or at most another where it always is: else it may be no shape of the task at all.
    Every setting of the stated ones is met, as long as shapes are admitted with it.
    admits: what the task and its seeds take, and what is small enough.
    """
    ranges, settings = _ranges(stated), settings_of(stated)
    rng = np.random.default_rng(zlib.crc32(" ".join(w.label for w in stated).encode()))
    missing = {cell for name, one in ranges.items() for cell in _cells(name, one)}
    free = sum(not one.fixed for one in ranges.values())
    made = {workload.label: workload for workload in stated}
    count, unmet = len(made), list(range(len(settings))) if len(settings) > 1 else []
    for turn in range(TRIES):
        if len(made) - count >= (max(MOST, len(settings)) if missing or unmet else LEAST):
            break
        drawn = {name: _drawn(name, one, missing, rng, free=free) for name, one in ranges.items()}
        which = unmet[turn % len(unmet)] if unmet else turn % len(settings)
        shape = _shape(drawn, stated, ranges, settings[which])
        new = missing & set(_met(shape.dims, ranges))
        if (
            (new or not missing or which in unmet)
            and shape.label not in made
            and related(shape, stated)
            and admits(shape)
        ):
            made[shape.label] = shape
            missing -= new
            unmet = [one for one in unmet if one != which]
    return tuple(made.values())[count:]


def below(
    workload: Workload, stated: Sequence[Workload], admits: Callable[[Workload], bool]
) -> tuple[Workload, ...]:
    """About the workload's size, or half of it and so on until admitted: with all dims two and
    three over a multiple of REMAINDERS times what divides all their values, and so with what
    kernels do on large shapes only."""
    ranges, found = _ranges(stated), []
    for remainder in (2, 3):
        dims = dict(workload.dims)
        while True:
            lower = {
                name: one.step * _at_most(dims[name] // one.step, remainder, one)
                for name, one in ranges.items()
            }
            shape = _shape(lower, stated, ranges, workload.setting)
            if admits(shape) or max(dims.values(), default=0) < 2 * REMAINDERS:
                break
            largest = max(dims, key=lambda name: dims[name] if not ranges[name].fixed else 0)
            dims[largest] = max(ranges[largest].step, dims[largest] // 2)
        if related(shape, stated) and admits(shape):
            found.append(shape)
    return tuple(found)


def above(
    workload: Workload, stated: Sequence[Workload], admits: Callable[[Workload], bool]
) -> tuple[Workload, ...]:
    """A shape of larger dims, as far as their ranges go, and so with what kernels do wrong on
    larger shapes than are stated: where two dims are large at once that never were."""
    ranges = _ranges(stated)
    for factor in ENLARGED:
        upper = {
            name: one.step * _at_most(min(one.most, int(factor * dim) // one.step), 1, one)
            for name, one in ranges.items()
            for dim in [workload.dims[name]]
        }
        shape = _shape(upper, stated, ranges, workload.setting)
        if related(shape, stated) and admits(shape):
            return (shape,)
    return ()


def swept_shapes(
    stated: Sequence[Workload],
    rng: np.random.Generator,
    admits: Callable[[Workload], bool],
    *,
    count: int,
    pinned: Sequence[Mapping[str, int]] = (),
) -> Iterator[Workload]:
    """Random shapes, count at most, whose dims keep to what covering_shapes keeps to.

    A dim's values meet the remainders modulo CYCLE evenly, beyond the first CYCLE as far as its
    range goes, or are of all sizes alike. pinned: values of some dims, each shape has one of them.
    """
    ranges, settings = _ranges(stated), settings_of(stated)
    free = [name for name, one in ranges.items() if not one.fixed]
    most = 1 << SWEPT_POWERS[len(free) == 1]
    places = {name: float(rng.random()) for name in free}
    met: set[str] = set()
    for turn, attempt in product(range(count if free else 0), range(SWEPT_TRIES)):
        if len(met) > turn:
            continue
        few = max(0, SPREAD[turn % len(SPREAD)] - attempt // LESS)
        spread = rng.permutation(free).tolist()[:few]
        dims = {
            name: _spread(one, most, places[name], rng)
            if name in spread
            else _sized(one, most, rng)
            for name, one in ranges.items()
        }
        dims |= pinned[int(rng.integers(len(pinned)))] if pinned else {}
        shape = _shape(dims, stated, ranges, _one_of(settings, rng))
        if shape.label not in met and related(shape, stated) and admits(shape):
            met.add(shape.label)
            places |= {name: (places[name] + GOLDEN) % 1 for name in spread}
            yield shape


def between(
    stated: Sequence[Workload], rng: np.random.Generator, numbers: Sequence[int]
) -> Workload:
    """A random shape whose dims lie between their stated values, all sizes alike; often one dim
    lies near one of the numbers."""
    ranges = _ranges(stated)
    dims = {name: _sized(one, one.most * one.step, rng) for name, one in ranges.items()}
    if numbers and dims and rng.integers(2):
        name = [*dims][int(rng.integers(len(dims)))]
        near = numbers[int(rng.integers(len(numbers)))] + int(rng.integers(-1, 2 * REMAINDERS))
        one = ranges[name]
        dims[name] = one.step * max(one.least, min(one.most, near // one.step))
    return _shape(dims, stated, ranges, _one_of(settings_of(stated), rng))


def _one_of(settings: Sequence[Setting], rng: np.random.Generator) -> Setting:
    return settings[int(rng.integers(len(settings)))] if len(settings) > 1 else settings[0]


def ragged(shape: Workload, stated: Sequence[Workload]) -> bool:
    """Whether no dim that varies is a multiple of REMAINDERS times what divides all its values."""
    ranges = _ranges(stated)
    return not any(
        shape.dims[name] // one.step % REMAINDERS == 0
        for name, one in ranges.items()
        if not one.fixed
    )


def _ranges(stated: Sequence[Workload]) -> dict[str, Range]:
    ranges = {}
    for name in stated[0].dims:
        values = [workload.dims[name] for workload in stated]
        step = math.gcd(*values)
        ranges[name] = Range(step=step, least=min(values) // step, most=max(values) // step)
    return ranges


def _cells(name: str, one: Range) -> Iterator[Cell]:
    for r in range(REMAINDERS):
        if one.least + (r - one.least) % REMAINDERS <= one.most:
            yield name, "remainder", r
    if not one.fixed:
        yield from ((name, "edge", e) for e in EDGES)


def _met(dims: Mapping[str, int], ranges: dict[str, Range]) -> Iterator[Cell]:
    for name, one in ranges.items():
        times = dims[name] // one.step
        yield name, "remainder", times % REMAINDERS
        for edge in EDGES:
            power = dims[name] - edge * one.step
            if power > max(1, one.step) and power & (power - 1) == 0:
                yield name, "edge", edge


def _drawn(
    name: str, one: Range, missing: set[Cell], rng: np.random.Generator, *, free: int
) -> int:
    """A value that meets something missing, if anything is. free: how many dims vary."""
    least, most = POWERS[0] if free < MANY else 0, POWERS[2] if free == 1 else POWERS[1]
    size = max(int(2 ** rng.uniform(least, most)) // one.step, int(rng.integers(1, 8)))
    size = max(one.least, min(one.most, size))
    wanted = sorted(cell for cell in missing if cell[0] == name) or [*_cells(name, one)]
    _, kind, place = wanted[int(rng.integers(len(wanted)))]
    if kind == "edge":
        power = 1 << max(0, (size * one.step).bit_length() - 1)
        times = power // one.step + place
    else:
        times = size + (place - size) % REMAINDERS
    return one.step * max(one.least, min(one.most, times))


def _sized(one: Range, most: int, rng: np.random.Generator) -> int:
    """A value up to most, all sizes alike."""
    times = max(one.least, min(one.most, most // one.step))
    return one.step * round(2 ** rng.uniform(math.log2(one.least), math.log2(times)))


def _spread(one: Range, most: int, place: float, rng: np.random.Generator) -> int:
    """A value up to most at that place of a cycle, which is one after the first if there is any."""
    room = max(one.least, min(one.most, most // one.step)) - one.least + 1
    times = int(place * min(CYCLE, room))
    if room > CYCLE:
        times += CYCLE * int(2 ** rng.uniform(0, math.log2(room / CYCLE)))
    return one.step * (one.least + (times if times < room else times - CYCLE))


def _at_most(times: int, remainder: int, one: Range) -> int:
    lower = times - (times - remainder) % REMAINDERS
    return max(one.least, lower)


def _shape(
    dims: Dims, stated: Sequence[Workload], ranges: dict[str, Range], setting: Setting
) -> Workload:
    """The dims with those that are always equal, or multiples of others, made such again."""
    for a, b in permutations(dims, 2):
        if always(stated, a, b) and not ranges[b].fixed:
            dims[b] = dims[a] if always(stated, b, a) else dims[a] * max(1, dims[b] // dims[a])
    return Workload(dims=dims, suite="held_out", setting=setting)
