"""Draws with values that a task's own distributions seldom hold: spikes, NaN, signed zeros..."""

import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from evaluators.checks.budget import Limit, Standard, has_few
from evaluators.checks.conditioning import (
    SCALED,
    Moving,
    References,
    TaskReferences,
    conditioning,
    is_finite,
    is_normal,
    proportional,
)
from evaluators.checks.inputs import Draw, InputPool
from evaluators.checks.unusual_inputs import FACTORS, small_factors, unusual
from evaluators.evaluation import Rejected
from evaluators.tasks.arguments import Argument, Array, Workload
from evaluators.tasks.task import Task

WORDS = {
    "spikes": "with spikes in its inputs",
    "large": "with large inputs",
    "small": "with small inputs",
    "cancellation": "with inputs that cancel out",
    "denormals": "with denormal inputs",
    "signed_zeros": "with zeros of both signs in its inputs",
    "nan": "with NaN in its inputs",
    "infinity": "with infinity in its inputs",
    "offset": "with constants added to its inputs",
}
ROOM = 64
"""Elements of an input."""
MOST_BYTES, MOST_FLOPS = 1 << 22, 1e8
"""Of a shape on which unusual values are tried."""
KEPT, KEPT_LARGE = 3, 1
"""Draws of a class and a shape: of the tests or with few elements of output, and of others."""
NOT_FINITE = ("nan", "infinity")
"""They make all of few elements so, mostly."""
KEPT_BYTES = 1 << 28
"""Of all draws; beyond it the longest unused are dropped and made again."""
DIRECTIONS, DIRECTIONS_FEW, DIRECTIONS_LARGE = 8, 4, 2
"""In so many random ones inputs are moved to see how far outputs move: on shapes of the tests, on
others with few elements of output, none of which may seem not to move, and on all others."""


@contextmanager
def on_values(values: str) -> Iterator[None]:
    """A rejection inside tells the class of values it happened on, if it is a special one."""
    try:
        yield
    except Rejected as rejected:
        if not values or rejected.killed:
            raise
        raise rejected.saying(f"{rejected.reason} {WORDS[values]}") from None


class UnusualDraws:
    """A task's unusual draws by shape and class of values, made when first asked for."""

    def __init__(
        self,
        task: Task,
        pool: InputPool,
        rng: np.random.Generator,
        *,
        references: References | None = None,
    ) -> None:
        """references: by default made by the task's reference.py."""
        self._task = task
        self._pool = pool
        self._rng = rng
        self._references = references or TaskReferences(task)
        self._kept: OrderedDict[tuple[str, str], tuple[Draw, ...]] = OrderedDict()
        self._dropped: set[tuple[str, str]] = set()
        self._settled: set[tuple[str, str]] = set()
        self._limits: dict[tuple[str, str], dict[str, Limit]] = {}

    def chosen(
        self, tests: Sequence[Workload], workloads: Sequence[Workload], *, everywhere: bool
    ) -> dict[str, list[str]]:
        """By label of the tests' shapes among the workloads: each class once, on a random one with
        room for values of several kinds, where there is any; or every class everywhere."""
        labels = {workload.label for workload in self._affordable(tests)}
        among = [workload for workload in workloads if workload.label in labels]
        if everywhere:
            return {workload.label: [*self._task.unusual()] for workload in among}
        roomy = [workload for workload in among if self._elements(workload) >= ROOM]
        shapes = [workload.label for workload in roomy or among]
        found: dict[str, list[str]] = {}
        for values in self._task.unusual() if shapes else ():
            found.setdefault(shapes[int(self._rng.integers(len(shapes)))], []).append(values)
        return found

    def each(self, workload: Workload) -> list[tuple[Workload, str]]:
        """Every class on the shape, in an order that nobody can foresee."""
        classes = [*self._task.unusual()]
        return [(workload, classes[int(i)]) for i in self._rng.permutation(len(classes))]

    def spread(self, workloads: Sequence[Workload]) -> list[tuple[Workload, str]]:
        """Each class on one of the shapes, and each shape with one of the classes, in pairs and in
        an order that nobody can foresee."""
        classes, rng = [*self._task.unusual()], self._rng
        if not classes or not workloads:
            return []
        count = max(len(classes), len(workloads))
        shapes = [workloads[int(i) % len(workloads)] for i in rng.permutation(count)]
        values = [classes[int(i) % len(classes)] for i in rng.permutation(count)]
        return list(zip(shapes, values, strict=True))

    def _affordable(self, tests: Sequence[Workload]) -> list[Workload]:
        """Those whose reference takes little, or else the smallest."""
        nbytes = self._task.nbytes
        quick = [w for w in tests if nbytes(w) <= MOST_BYTES and self._flops(w) <= MOST_FLOPS]
        return quick or sorted(tests, key=nbytes)[:1]

    def _flops(self, workload: Workload) -> float:
        flops = self._task.flops
        return 0.0 if flops is None else float(flops.evaluate(workload.env))

    def _elements(self, workload: Workload) -> int:
        """Of the largest input."""
        inputs = (a for a in self._task.on(workload).arguments if a.role != "out")
        return max((math.prod(a.shape(workload.env)) for a in inputs), default=0)

    def draws(self, workload: Workload, classes: Sequence[str]) -> list[Draw]:
        """A random one of each class, where there is any."""
        kept = [self.of(workload, values) for values in classes]
        return [some[int(self._rng.integers(len(some)))] for some in kept if some]

    def cost_bytes(self, workload: Workload, values: str) -> int:
        """What references read and write until such draws are made; 0 where they are."""
        if (workload.label, values) in self._kept:
            return 0
        arguments = self._task.on(workload).arguments
        # Narrow types are widened wherever they are looked at: each element costs 4 bytes or more.
        nbytes = sum(
            one.nbytes(workload.env) // one.np_dtype.itemsize * max(4, one.np_dtype.itemsize)
            for one in arguments
        )
        if values in NOT_FINITE and self._few(workload):
            return nbytes
        references = 2 + self._directions(workload) if self._rounded(workload) else 1
        references += values == "small" and self._task.values is None
        return nbytes * self._count(workload) * references

    def _rounded(self, workload: Workload) -> bool:
        return any(output.rounded(workload.env) for output in self._task.on(workload).outputs)

    def drop(self, workload: Workload, values: str) -> None:
        """From now on there are none."""
        self._dropped.add((workload.label, values))

    def of(self, workload: Workload, values: str) -> tuple[Draw, ...]:
        """Some draws, none where the shape admits none."""
        key = workload.label, values
        if key in self._dropped:
            return ()
        if key not in self._kept:
            self._kept[key] = self._made(workload, values)
        self._kept.move_to_end(key)
        while len(self._kept) > 1 and self._held_bytes() > KEPT_BYTES:
            self._kept.popitem(last=False)
        return self._kept[key]

    def _made(self, workload: Workload, values: str) -> tuple[Draw, ...]:
        """One where limits are measured, or nothing is finite and so nothing is rounded."""
        made: list[Draw] = []
        count = 1 if (workload.label, values) in self._settled else self._count(workload)
        for i in range(count):
            draw = self._make(workload, values, i)
            made += [] if draw is None else [draw]
            if made and not is_finite(made[0].reference):
                break
        return tuple(made)

    def _held_bytes(self) -> int:
        return sum(draw.nbytes for draws in self._kept.values() for draw in draws)

    def _count(self, workload: Workload) -> int:
        """The error of one draw tells much of an honest kernel's, unless it is of few elements."""
        small = workload.suite == "tests" or self._few(workload)
        return KEPT if small else KEPT_LARGE

    def _few(self, workload: Workload) -> bool:
        return any(has_few(output, workload) for output in self._task.on(workload).outputs)

    def _directions(self, workload: Workload) -> int:
        if workload.suite == "tests":
            return DIRECTIONS
        return DIRECTIONS_FEW if self._few(workload) else DIRECTIONS_LARGE

    def settle(self, workload: Workload, values: str) -> None:
        """Once limits are measured, one draw of a large shape is enough."""
        if workload.suite != "tests":
            key = workload.label, values
            self._settled.add(key)
            self._kept[key] = self._kept.get(key, ())[:1]

    def _make(self, workload: Workload, values: str, i: int) -> Draw | None:
        arguments = self._task.on(workload).unusual().get(values, ())
        if not arguments:
            return None
        usual = self._pool.fresh(workload, self._rng).inputs
        directions = self._directions(workload)
        exact = not self._rounded(workload)
        for factor in self._factors(arguments, usual, values):
            inputs = unusual(arguments, usual, values, factor, self._rng, nan_signs=exact)
            moving = Moving(self._task, workload, inputs, self._references)
            if values == "small" and not self._takes_small(moving, usual, factor):
                return None
            scales = conditioning(moving, values, directions, self._rng)
            if scales is not None:
                index = -1 - i - KEPT * list(WORDS).index(values)
                limits = self._limits.setdefault((workload.label, values), {})
                standard = Standard(limits=limits, scales=scales, values=values)
                draw = Draw(self._task, workload, index, lambda *_, made=inputs: made, standard)
                draw.reference = moving.reference
                return draw
        return None

    def _factors(
        self, arguments: tuple[Argument, ...], usual: Mapping[str, Array], values: str
    ) -> tuple[float, ...]:
        if values == "small":
            return small_factors(arguments, usual, self._rng)
        return FACTORS if values in SCALED else FACTORS[:1]

    def _takes_small(self, moving: Moving, usual: Mapping[str, Array], factor: float) -> bool:
        """Where nothing is said an honest kernel may end at the tolerance, as one of a tanh by
        exponentials does near zero; not so where small inputs are as good as others."""
        if not is_normal(self._task, moving.reference):
            return False
        if self._task.values is not None:
            return True
        found = self._references.reference(moving.workload, usual)
        return proportional(found, moving.reference, factor)
