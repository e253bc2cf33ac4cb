"""Technique: a named single change to a point of a family, with its predicted gain."""

from dataclasses import dataclass, field
from itertools import product

from operators.catalog.families import Families, Params

Range = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Technique:
    """What it changes, and what is expected of it.

    sources: families it starts from. target: the family it leads to, None to stay; parameters
    that the target shares are kept, the others take its defaults. sets: parameter values.
    steps: places to move within a parameter's space. free: parameters that are one decision
    (a tile's height and width), chosen anew together among all feasible values.
    cpu, gpu: expected uplift [min, max] in percent. innovation: 0..100.
    """

    name: str
    sources: frozenset[str]
    target: str | None = None
    sets: Params = field(default_factory=dict)
    steps: Params = field(default_factory=dict)
    free: tuple[str, ...] = ()
    avenue: str
    rubric: str
    cpu: Range
    gpu: Range
    innovation: int

    def points(
        self, known: Families, family: str, params: Params
    ) -> list[tuple[str, dict[str, int]]]:
        """The points it may lead to; none where it has no place or changes nothing."""
        target = self.target or family
        if family not in self.sources or target not in known.sources:
            return []
        source = known.sources[target]
        if not {*self.sets, *self.steps, *self.free} <= source.params.keys():
            return []
        changed = {
            **source.params,
            **{name: value for name, value in params.items() if name in source.params},
            **self.sets,
        }
        for name, places in self.steps.items():
            value = step(source.space[name], changed[name], places)
            if value is None:
                return []
            changed[name] = value
        found = []
        for values in product(*(source.space[name] for name in self.free)):
            point = {**changed, **dict(zip(self.free, values, strict=True))}
            if (target, point) != (family, dict(params)) and source.feasible(point):
                found.append((target, point))
        return found


def step(values: tuple[int, ...], value: int, places: int) -> int | None:
    """The value so many places up the sorted values; None beyond an end.

    A value that is not among them counts as the nearest that is.
    """
    ordered = sorted(values)
    at = min(range(len(ordered)), key=lambda i: abs(ordered[i] - value)) + places
    return ordered[at] if 0 <= at < len(ordered) else None


def changes(before: Params, after: Params) -> str:
    """ "TM 4 -> 8, KU 1 -> 2"; new parameters with their values only."""
    parts = [
        f"{name} {before[name]} -> {value}" if name in before else f"{name} = {value}"
        for name, value in after.items()
        if before.get(name) != value
    ]
    return ", ".join(parts)
