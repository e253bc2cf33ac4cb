"""Points: measured kernels that differ from the one shown in parameters alone, variants aside."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evaluators.device_info import Target, target_of
from evaluators.evaluation import Rejected
from evaluators.kernel.source import KernelSource, code_id, parse_kernel
from evaluators.tasks.arguments import Workload
from operators.individual import Individual

Point = frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """individual: the kernel shown; base: the same without its variants; points: of its base's
    structure and space, the kernel itself among them unless it has variants: its time is then
    that of several points. shapes: by their labels, as far as they are known."""

    individual: Individual
    shown: KernelSource
    base: KernelSource
    points: Mapping[Point, Individual]
    shapes: Mapping[str, Workload]

    @classmethod
    def of(
        cls,
        individual: Individual,
        known: Iterable[Individual],
        workloads: Sequence[Workload] = (),
    ) -> "Surroundings | None":
        """None where it stands alone, can't be read, or declares no space."""
        source = individual.candidate.source
        shown, base = parsed(source), without_variants(source)
        if shown is None or base is None or not base.space:
            return None
        points = _points(base, known)
        if not shown.variants:
            points[frozenset(base.params.items())] = individual
        if all(one.id == individual.id for one in points.values()):
            return None
        shapes = {one.label: one for one in workloads}
        return cls(individual=individual, shown=shown, base=base, points=points, shapes=shapes)

    @property
    def best(self) -> Individual | None:
        """The fastest point over all shapes; None: none passed."""
        passed = [one for one in self.points.values() if one.evaluation.passed]
        return max(passed, key=lambda one: (speed(one), one.id), default=None)

    @property
    def _target(self) -> Target:
        return target_of(self.individual.evaluation.device_class.partition("/")[0])

    def own(self, label: str) -> Point | None:
        """The point that the kernel shown is on a shape; None: that can't be told."""
        if not self.shown.variants:
            return frozenset(self.base.params.items())
        try:
            shape, target = self.shapes.get(label), self._target
            return (
                None if shape is None else frozenset(self.shown.params_for(shape, target).items())
            )
        except Rejected:
            return None


def speed(one: Individual) -> float:
    return one.evaluation.over_seed or 1.0


@lru_cache(maxsize=4096)
def parsed(text: str) -> KernelSource | None:
    try:
        return parse_kernel(text)
    except Rejected:
        return None


@lru_cache(maxsize=4096)
def _code(text: str) -> str:
    try:
        return code_id(text)
    except Rejected:
        return ""


@lru_cache(maxsize=256)
def without_variants(text: str) -> KernelSource | None:
    kernel = parsed(text)
    try:
        return kernel.with_variants(()) if kernel is not None else None
    except Rejected:
        return None


def _points(base: KernelSource, known: Iterable[Individual]) -> dict[Point, Individual]:
    """Of the structure and within its space. A structure with variants is another one."""
    found: dict[Point, Individual] = {}
    code = _code(base.text)
    for one in known:
        if _code(one.candidate.source) != code:
            continue
        other = parsed(one.candidate.source)
        if other is None or other.structure != base.structure:
            continue
        if all(
            value in base.space.get(name, ()) or value == base.params[name]
            for name, value in other.params.items()
        ):
            found[frozenset(other.params.items())] = one
    return found
