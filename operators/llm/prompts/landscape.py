"""The landscape around a kernel: what its parameters do, from measured points of its structure."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from math import prod

from evaluators.evaluation import Rejected
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.measuring.gain import gain, gains_over_seed
from evaluators.measuring.intervals import Spread
from operators.individual import Individual
from operators.llm.prompts.steps import percent

MOST_COUNTED = 5000
"""Points of a space, whether constraints hold or not; of a larger one none is counted."""

MOST_SHAPES = 6
"""Whose best points are named, those first on which most is to be gained."""

Point = frozenset[tuple[str, int]]
Points = Mapping[Point, Individual]


def landscape_lines(
    individual: Individual, known: Iterable[Individual], spread: Spread
) -> list[str]:
    """ "ROWS 1 -> 8: +4% (+3..+5); 1 -> 16: COMPILE_ERROR", a line a parameter, then how many
    points were tried and which is the best, then which is where shapes want different ones.

    Paired ratios to the individual, or, where a value was tried elsewhere in the space only,
    between the two fastest kernels that differ in it alone. Kernels with `variants` are no points:
    one is told of those of its structure without them. Nothing where it stands alone.
    """
    kernel = _plain(individual.candidate.source)
    if kernel is None or not kernel.space:
        return []
    points = _points(kernel, known)
    if not _varies(individual):
        points[frozenset(kernel.params.items())] = individual
    if len({one.id for one in points.values()} | {individual.id}) < 2:
        return []
    told = {name: _effects(name, kernel, points, spread) for name in kernel.space}
    lines = [f"{name} {'; '.join(effects)}" for name, effects in told.items() if effects]
    lines.append(_summary(individual, kernel, points, spread))
    return [*lines, *_by_shape(individual, kernel, points, spread)]


def landscapes(
    individuals: Sequence[Individual], known: Iterable[Individual], spread: Spread
) -> dict[str, str]:
    """One line a structure, by the id of the first of the individuals that has it."""
    others = list(known)
    found: dict[str, str] = {}
    met: set[str] = set()
    for one in individuals:
        kernel = _plain(one.candidate.source)
        if kernel is not None and kernel.structure not in met:
            met.add(kernel.structure)
            if lines := landscape_lines(one, others, spread):
                found[one.id] = ". ".join(lines)
    return found


def _effects(name: str, kernel: KernelSource, points: Points, spread: Spread) -> list[str]:
    """What each other value of a parameter did, "1 -> 8: +4% (+3..+5)"."""
    now = kernel.params[name]
    found = []
    for value in sorted({*kernel.space[name]} - {now}):
        pair = _pair(name, value, kernel, points)
        if pair is None:
            continue
        before, after, elsewhere = pair
        ratio = gain(after.evaluation, before.evaluation, spread)
        if ratio is None and after.evaluation.passed:
            continue  # they were never timed on the same shapes
        said = percent(ratio) if ratio else str(after.evaluation.status)
        found.append(f"{now} -> {value}{elsewhere}: {said}")
    return found


def _pair(
    name: str, value: int, kernel: KernelSource, points: Points
) -> tuple[Individual, Individual, str] | None:
    """Two kernels that differ in that parameter alone, the kernel itself among them or else the
    fastest, and where that is."""
    here = dict(kernel.params)
    itself = points.get(frozenset(here.items()))
    moved = points.get(frozenset({**here, name: value}.items()))
    if itself is not None and moved is not None:
        return itself, moved, ""
    pairs = []
    for point, before in points.items():
        params = dict(point)
        after = points.get(frozenset({**params, name: value}.items()))
        if params[name] == here[name] and after is not None and before.evaluation.passed:
            pairs.append((_speed(before), before.id, before, after, params))
    if not pairs:
        return None
    *_, before, after, params = max(pairs, key=lambda pair: pair[:2])
    at = " ".join(f"{key}={params[key]}" for key in here if params[key] != here[key])
    return before, after, f" at {at}"


def _summary(individual: Individual, kernel: KernelSource, points: Points, spread: Spread) -> str:
    """ "14 points of 36 tried, best ROWS=8 V=4 (0f1e2d3c4b5a6978): +4% (+3..+5)"."""
    tried = f"{len(points)} points of {_size(kernel.text)} tried"
    passed = [one for one in points.values() if one.evaluation.passed]
    best = max(passed, key=lambda one: (_speed(one), one.id), default=individual)
    if best.id == individual.id:
        return f"{tried}, this one is the best"
    chosen = next(point for point, one in points.items() if one.id == best.id)
    values = dict(chosen)
    ratio = gain(best.evaluation, individual.evaluation, spread)
    told = f"{tried}, best {_named(values, kernel)} ({best.id})"
    return told + (f": {percent(ratio)}" if ratio else "")


def _by_shape(
    individual: Individual, kernel: KernelSource, points: Points, spread: Spread
) -> list[str]:
    """ "best by shape: N=64: ROWS=8 V=4 (0f1e2d3c4b5a6978): +40% (+35..+45); N=4096: this one".

    One line where other points are faster than the individual on some shape, and not one of them
    on all. Points that are not shown to be faster there are not told of.
    """
    told: list[tuple[float, str]] = []
    leaders: set[str] = set()
    shapes = gains_over_seed(individual.evaluation)
    for label in shapes:
        found = _fastest_on(label, points)
        if found is None:
            continue
        params, one = found
        ratio = gain(one.evaluation, individual.evaluation, spread, label=label)
        faster = ratio is not None and ratio[1] > 1
        leaders.add(one.id if faster else individual.id)
        if ratio is not None and faster:
            where = f"{label}: {_named(params, kernel)} ({one.id}): {percent(ratio)}"
            told.append((-ratio[0], where))
    if len(leaders) < 2:
        return []
    more = len(told) - MOST_SHAPES
    parts = [text for _, text in sorted(told)[:MOST_SHAPES]]
    parts += [f"{more} more shapes"] if more > 0 else []
    rest = len(shapes) - len(told)
    parts += ["this one on the others"] if rest else []
    return [f"best by shape: {'; '.join(parts)}"]


def _fastest_on(label: str, points: Points) -> tuple[Mapping[str, int], Individual] | None:
    """Of the points that passed."""
    timed = [
        (gains[label], one.id, point, one)
        for point, one in points.items()
        if label in (gains := gains_over_seed(one.evaluation))
    ]
    if not timed:
        return None
    *_, point, one = max(timed, key=lambda entry: entry[:2])
    return dict(point), one


def _named(params: Mapping[str, int], kernel: KernelSource) -> str:
    return " ".join(f"{name}={params[name]}" for name in kernel.space)


def _points(kernel: KernelSource, known: Iterable[Individual]) -> dict[Point, Individual]:
    """Of the kernel's structure and within its space, none with variants."""
    found: dict[Point, Individual] = {}
    for one in known:
        other = _parsed(one.candidate.source)
        if other is None or other.variants or other.structure != kernel.structure:
            continue
        if all(
            value in kernel.space.get(name, ()) or value == kernel.params[name]
            for name, value in other.params.items()
        ):
            found[frozenset(other.params.items())] = one
    return found


def _speed(one: Individual) -> float:
    return one.evaluation.speedup or 1.0


def _varies(one: Individual) -> bool:
    kernel = _parsed(one.candidate.source)
    return kernel is not None and bool(kernel.variants)


@lru_cache(maxsize=4096)
def _plain(text: str) -> KernelSource | None:
    """A kernel without its variants; None where it can't be read."""
    kernel = _parsed(text)
    try:
        return kernel.with_variants(()) if kernel is not None and kernel.variants else kernel
    except Rejected:
        return None


@lru_cache(maxsize=4096)
def _parsed(text: str) -> KernelSource | None:
    try:
        return parse_kernel(text)
    except Rejected:
        return None


@lru_cache(maxsize=256)
def _size(text: str) -> str:
    """How many points a kernel's space has."""
    kernel = parse_kernel(text)
    space = {name: {*values, kernel.params[name]} for name, values in kernel.space.items()}
    largest = prod(len(values) for values in space.values())
    if largest > MOST_COUNTED:
        return f"up to {largest}"
    points = (dict(zip(space, values, strict=True)) for values in product(*space.values()))
    return str(sum(kernel.feasible(point) for point in points))
