"""Elites: the fastest kernels of every structure, and the next points of theirs to measure."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Rejected, Status
from evaluators.kernel.source import KernelSource, kernel_id
from evaluators.measuring.gain import gains_over_seed, spread_on
from evaluators.tasks.task import Task
from evaluators.weights import weights_of
from operators.catalog.landscape import parsed
from operators.catalog.technique import changes
from operators.individual import Candidate, Individual
from operators.operator import Context, Declined, Draft, Mutation
from operators.tuning.relatives import relatives
from operators.tuning.space import Params, Space, key_of, space_of
from operators.tuning.tuner import Measured, Tuner
from operators.tuning.variants import compose, told_apart_by

LEAST_SHARE = 1 / 8
"""A structure's share of the tries, beside the fastest one's, goes with the square of its speed;
the slowest gets this much, so that every structure has its first points early."""

COMPOSED_FROM = 6
"""Points that passed, before variants by shape are made of them; and points that are measured
between one such kernel and the next."""

LEAST_GAIN = 0.01
"""In ln: what variants must promise over the best of the structure."""


@dataclass(slots=True)
class _Structure:
    """Kernels that differ in the parameters of their space and in variants only.

    base: the fastest parent's, or any, without variants. parents: fastest first. measured: those
    without variants, by parameters. tries: how many were measured; since: of these, after the
    last with variants.
    """

    base: KernelSource
    parents: list[Individual] = field(default_factory=list)
    measured: dict[str, Measured] = field(default_factory=dict)
    tries: int = 0
    since: int = COMPOSED_FROM

    @property
    def speed(self) -> float:
        return _speed(self.parents[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """What one kernel says of its structure. measured: None where it has variants."""

    name: str
    base: KernelSource
    key: str
    measured: Measured | None

    @classmethod
    def of(cls, individual: Individual, base: KernelSource) -> "_Entry":
        kernel = parsed(individual.candidate.source)
        return cls(
            name=_name(base),
            base=base,
            key=key_of(kernel.params),
            measured=None if kernel.variants else _measured(individual, kernel.params),
        )


class Elites:
    """Its choice follows from what it is shown; it remembers only what it need not compute again.

    Structures take turns by stride scheduling (Waldspurger and Weihl, MIT/LCS/TM-528, 1995).
    """

    def __init__(self, task: Task, device: DeviceInfo) -> None:
        benchmarks = task.workloads("benchmarks", device.backend)
        self._shapes = {one.label: told_apart_by(one) for one in benchmarks}
        self._weights = weights_of(benchmarks)
        self._spread = spread_on(device)
        self._margin = max(0.02, self._spread.of_sittings(0.0))
        self._tuners: dict[str, Tuner] = {}  # by structure
        self._exhausted: dict[str, int] = {}  # structure -> tries, when it had no point left
        self._bases: dict[str, KernelSource] = {}
        self._entries: dict[str, tuple[Evaluation, _Entry | None]] = {}  # by kernel id

    async def tune(
        self, parents: Sequence[Individual], count: int, context: Context
    ) -> Sequence[Mutation]:
        """Raises Declined where every point was tried."""
        points = {**(context.tuned or {}), **context.individuals}
        known = {*points, *(kernel_id(one.source) for one in context.pending)}
        found = self.propose(
            parents, points.values(), context.pending, known, count=count, rng=context.rng
        )
        if not found:
            raise Declined("no kernel at hand declares a space with untried points")
        return found

    def propose(
        self,
        parents: Iterable[Individual],
        points: Iterable[Individual],
        pending: Iterable[Candidate],
        known: Collection[str],
        *,
        count: int,
        rng: np.random.Generator,
    ) -> list[Mutation]:
        """Up to `count` kernels of one structure. None of them: every point was tried.

        parents: of whom points may be tried; points: all that were measured, whatever came of
        them, in that order; pending: those that are not measured yet; known: ids of all kernels
        that are no news.
        """
        structures = self._structures(parents, points)
        waiting = self._waiting(pending)
        fastest = max((one.speed for one in structures.values() if one.parents), default=1.0)

        def turn(name: str) -> tuple[float, float, str]:
            one = structures[name]
            share = max(LEAST_SHARE, (one.speed / fastest) ** 2)
            return (one.tries + len(waiting.get(name, ()))) / share, -one.speed, one.parents[0].id

        for name in sorted((name for name, one in structures.items() if one.parents), key=turn):
            one = structures[name]
            ahead = waiting.get(name, [])
            if self._exhausted.get(name) == one.tries + len(ahead):
                continue
            found = self._of(name, structures, ahead, known, count, rng)
            if found:
                return found
            self._exhausted[name] = one.tries + len(ahead)
        return []

    # --- one structure ------------------------------------------------------------------------

    def _of(
        self,
        name: str,
        structures: Mapping[str, _Structure],
        pending: Sequence[KernelSource],
        known: Collection[str],
        count: int,
        rng: np.random.Generator,
    ) -> list[Mutation]:
        one = structures[name]
        parent = one.parents[0]
        composed = self._composed(one, pending)
        if composed is not None and composed.id not in known:
            return [_mutation(parent, composed, "variants by shape")]
        made = self._told(one)
        if not made:
            tuner = self._tuner(name, space_of(one.base))
            made = [
                one.base.with_params(params)
                for params in tuner.propose(
                    [*one.measured.values(), *relatives(name, structures, self._weights)],
                    [kernel.params for kernel in pending],
                    count,
                    rng,
                )
            ]
        return [_mutation(parent, kernel, "tuning") for kernel in made if kernel.id not in known]

    def _tuner(self, name: str, space: Space) -> Tuner:
        tuner = self._tuners.get(name)
        if tuner is None or tuner.space is not space:
            tuner = self._tuners[name] = Tuner(space, self._weights)
        return tuner

    def _composed(self, one: _Structure, pending: Sequence[KernelSource]) -> KernelSource | None:
        """A kernel with variants that promises more than the best of the structure."""
        passed = [point for point in one.measured.values() if point.gains]
        if min(len(passed), one.since) < COMPOSED_FROM or any(k.variants for k in pending):
            return None
        gains = [(point.params, point.gains or {}) for point in passed]
        found = compose(gains, self._shapes, self._margin, self._weights)
        best = math.log(one.speed)
        if found is None or found.gain < best + LEAST_GAIN:
            return None
        try:
            return one.base.with_params(found.params).with_variants(found.variants)
        except Rejected:
            return None

    def _told(self, one: _Structure) -> list[KernelSource]:
        """Points that a parent's own variants name, which were not measured by themselves."""
        found = []
        for parent in one.parents:
            for variant in parsed(parent.candidate.source).variants:
                params = {**parsed(parent.candidate.source).params, **variant.params}
                if key_of(params) not in one.measured and one.base.feasible(params):
                    found.append(one.base.with_params(params))
        return found

    # --- what is known ------------------------------------------------------------------------

    def _structures(
        self, parents: Iterable[Individual], points: Iterable[Individual]
    ) -> dict[str, _Structure]:
        """Those of all kernels with a space, by the base's structure."""
        found: dict[str, _Structure] = {}
        for individual in points:
            entry = self._entry(individual)
            if entry is None:
                continue
            one = found.setdefault(entry.name, _Structure(entry.base))
            one.tries += 1
            one.since = 0 if entry.measured is None else one.since + 1
            if entry.measured is not None:
                one.measured[entry.key] = entry.measured
        for individual in parents:
            entry = self._entry(individual)
            if entry is not None and individual.evaluation.passed and entry.name in found:
                found[entry.name].parents.append(individual)
        for one in found.values():
            one.parents.sort(key=lambda parent: (-_speed(parent), parent.id))
            if one.parents:
                one.base = self._base(one.parents[0].candidate) or one.base
        return found

    def _entry(self, individual: Individual) -> "_Entry | None":
        """None where it can't be read or declares no space."""
        known = self._entries.get(individual.id)
        if known is not None and known[0] is individual.evaluation:
            return known[1]
        base = self._base(individual.candidate)
        entry = _Entry.of(individual, base) if base is not None else None
        self._entries[individual.id] = individual.evaluation, entry
        return entry

    def _waiting(self, pending: Iterable[Candidate]) -> dict[str, list[KernelSource]]:
        found: dict[str, list[KernelSource]] = {}
        for candidate in pending:
            base = self._base(candidate)
            if base is not None:
                found.setdefault(_name(base), []).append(parsed(candidate.source))
        return found

    def _base(self, candidate: Candidate) -> KernelSource | None:
        """The kernel without its variants; None where it can't be read or declares no space."""
        try:
            kernel = parsed(candidate.source)
        except Rejected:
            return None
        if not any(len(values) > 1 for values in kernel.space.values()):
            return None
        if not kernel.variants:
            return kernel
        if kernel.structure not in self._bases:
            self._bases[kernel.structure] = kernel.with_variants(())
        return self._bases[kernel.structure]


def _name(base: KernelSource) -> str:
    """Parameters that are not varied tell structures apart."""
    fixed = [(key, value) for key, value in base.params.items() if key not in base.space]
    return f"{base.structure} {key_of(dict(fixed))}"


def _speed(individual: Individual) -> float:
    """Over the naive seed, whose own evaluation may name none."""
    return individual.evaluation.over_seed or 1.0


def _measured(individual: Individual, params: Params) -> Measured:
    evaluation = individual.evaluation
    return Measured(
        params=params,
        gains=dict(gains_over_seed(evaluation)) or None,
        slow=evaluation.status is Status.STOPPED_EARLY,
    )


def _mutation(parent: Individual, made: KernelSource, what: str) -> Mutation:
    """Whichever point it is beside, it is told as a change of the structure's fastest kernel."""
    before = parsed(parent.candidate.source)
    told = [changes(before.params, made.params)] if made.params != before.params else []
    told += [f"{one.when.text}: {changes(made.params, one.params)}" for one in made.variants]
    report = f"{what}: {'; '.join(told)}"
    draft = Draft(candidate=Candidate.from_source(made.text), report=report)
    return Mutation(parent=parent, draft=draft)
