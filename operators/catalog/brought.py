"""What rules of other campaigns mean to the catalogue: where to begin, what to try, to leave."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from evaluators.kernel.source import KernelSource
from operators.catalog.families import Params
from operators.catalog.technique import Range
from operators.finding import Finding, best_founded

Start = tuple[str, Params]
"""A family, and its parameters."""


def starts(brought: Iterable[Finding], sources: Mapping[str, KernelSource]) -> list[Start]:
    """Points that were the fastest elsewhere and can be made here, the best founded first."""
    found: list[Start] = []
    for one in best_founded(brought):
        source = sources.get(one.about.family)
        params = one.about.params
        if one.kind != "win" or source is None or not params:
            continue
        known = params.keys() <= source.params.keys() and all(
            value in source.space.get(name, (source.params[name],))
            for name, value in params.items()
        )
        if known and source.feasible(params):
            found.append((one.about.family, dict(params)))
    return found


def trapped_families(brought: Iterable[Finding]) -> frozenset[str]:
    """Those that stayed behind on all shapes."""
    return frozenset(
        one.about.family
        for one in brought
        if one.kind == "trap"
        and one.about.family
        and not (one.about.params or one.about.parameter or one.about.shape)
    )


def expected_of(brought: Iterable[Finding]) -> Mapping[str, Range]:
    """Measured uplifts in percent, [low, high], by technique; a percent wide at least."""
    return {
        one.about.technique: (100 * (one.ratio[1] - 1), 100 * (one.ratio[2] - 1) + 1)
        for one in brought
        if one.ratio is not None and one.about.technique
    }


def lost_steps(brought: Iterable[Finding]) -> frozenset[tuple[str, str, int, int]]:
    """(family, parameter, from, to) of single steps that made kernels slower, in both senses: a win
    upwards is a loss downwards."""
    found = set()
    for one in brought:
        about = one.about
        if one.ratio is None or about.change is None:
            continue
        low, high = about.change
        step = (low, high) if one.kind == "trap" else (high, low)
        found.add((about.family, about.parameter, *step))
    return frozenset(found)


def without_trapped(names: Sequence[str], trapped: Collection[str]) -> list[str]:
    """All where nothing else is left."""
    return [name for name in names if name not in trapped] or list(names)
