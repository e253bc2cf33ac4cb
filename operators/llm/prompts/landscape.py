"""The landscape around a kernel: what its parameters do, from measured points of its structure."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from math import prod

from evaluators.kernel.source import parse_kernel
from evaluators.measuring.gain import gain
from evaluators.measuring.intervals import Spread
from evaluators.tasks.arguments import Workload
from operators.individual import Individual
from operators.llm.prompts.by_shape import best_by_shape
from operators.llm.prompts.points import Surroundings, speed, without_variants
from operators.llm.prompts.steps import percent

MOST_COUNTED = 5000
"""Points of a space, whether constraints hold or not; of a larger one none is counted."""

MOST_DIGITS = 12
"""Of a number that is written out."""


def landscape_lines(
    individual: Individual,
    known: Iterable[Individual],
    spread: Spread,
    workloads: Sequence[Workload] = (),
) -> list[str]:
    """ "ROWS 1 -> 8: +4% (+3..+5); 1 -> 16: COMPILE_ERROR", a line a parameter, then how many
    points were tried and which is the best, then which is where shapes want different ones.

    Paired ratios to the individual, or, where a value was tried elsewhere in the space only,
    between the two fastest kernels that differ in it alone. Of a kernel with variants these start
    from the kernel without them. Nothing where it stands alone.
    """
    around = Surroundings.of(individual, known, workloads)
    if around is None:
        return []
    told = {name: _effects(name, around, spread) for name in around.base.space}
    lines = [f"{name} {'; '.join(effects)}" for name, effects in told.items() if effects]
    if lines and around.shown.variants:
        lines.insert(0, _start(around))
    return [*lines, _summary(around, spread), *best_by_shape(around, spread)]


def landscapes(
    individuals: Sequence[Individual],
    known: Iterable[Individual],
    spread: Spread,
    workloads: Sequence[Workload] = (),
) -> dict[str, str]:
    """One line a structure, variants aside, by the id of the first of the individuals that has
    it."""
    others = list(known)
    found: dict[str, str] = {}
    met: set[str] = set()
    for one in individuals:
        base = without_variants(one.candidate.source)
        if base is not None and base.structure not in met:
            met.add(base.structure)
            if lines := landscape_lines(one, others, spread, workloads):
                found[one.id] = ". ".join(lines)
    return found


def _start(around: Surroundings) -> str:
    """Where the effects start of a kernel that has variants."""
    plain = around.points.get(frozenset(around.base.params.items()))
    if plain is not None and plain.evaluation.passed:
        return f"values are told from {plain.id}, which is this kernel without its variants"
    return "this kernel without its variants has no times; values are told from where they have"


def _effects(name: str, around: Surroundings, spread: Spread) -> list[str]:
    """What each other value of a parameter did, "1 -> 8: +4% (+3..+5)"."""
    now = around.base.params[name]
    tried = {value for point in around.points for key, value in point if key == name}
    found = []
    for value in sorted(tried - {now}):
        pair = _pair(name, value, around)
        if pair is None:
            continue
        before, after, elsewhere = pair
        ratio = gain(after.evaluation, before.evaluation, spread)
        if ratio is None and after.evaluation.passed:
            continue  # they were never timed on the same shapes
        said = percent(ratio) if ratio else str(after.evaluation.status)
        found.append(f"{now} -> {value}{elsewhere}: {said}")
    return found


def _pair(name: str, value: int, around: Surroundings) -> tuple[Individual, Individual, str] | None:
    """Two points that differ in that parameter alone, the kernel's own among them or else the
    fastest, and where that is."""
    here, points = dict(around.base.params), around.points
    own = points.get(frozenset(here.items()))
    moved = points.get(frozenset({**here, name: value}.items()))
    if (
        own is not None
        and moved is not None
        and (own is around.individual or own.evaluation.passed)
    ):
        return own, moved, ""
    pairs = []
    for point, before in points.items():
        params = dict(point)
        after = points.get(frozenset({**params, name: value}.items()))
        if params[name] == here[name] and after is not None and before.evaluation.passed:
            pairs.append((speed(before), before.id, before, after, params))
    if not pairs:
        return None
    *_, before, after, params = max(pairs, key=lambda pair: pair[:2])
    at = " ".join(f"{key}={params[key]}" for key in here if params[key] != here[key])
    return before, after, f" at {at}"


def _summary(around: Surroundings, spread: Spread) -> str:
    """ "14 points of 36 tried, best ROWS=8 V=4 (0f1e2d3c4b5a6978): +4% (+3..+5)"."""
    count = len(around.points)
    tried = f"{count} point{'s' * (count > 1)} of {_size(around.base.text)} tried"
    if around.shown.variants:
        tried += " without variants"
    best = around.best
    if best is None and around.shown.variants:
        return f"{tried}, none passed"
    if best is None or best.id == around.individual.id:
        return f"{tried}, this one is the best"
    values = dict(next(point for point, one in around.points.items() if one.id == best.id))
    named = " ".join(f"{name}={values[name]}" for name in around.base.space)
    ratio = gain(best.evaluation, around.individual.evaluation, spread)
    beside = " beside this one" if around.shown.variants else ""
    return f"{tried}, best {named} ({best.id})" + (f": {percent(ratio)}{beside}" if ratio else "")


@lru_cache(maxsize=256)
def _size(text: str) -> str:
    """How many points a kernel's space has."""
    kernel = parse_kernel(text)
    space = {name: {*values, kernel.params[name]} for name, values in kernel.space.items()}
    largest = prod(len(values) for values in space.values())
    if largest > MOST_COUNTED:
        return f"up to {largest if largest < 10**MOST_DIGITS else f'{largest:.0e}'}"
    points = (dict(zip(space, values, strict=True)) for values in product(*space.values()))
    return str(sum(kernel.feasible(point) for point in points))
