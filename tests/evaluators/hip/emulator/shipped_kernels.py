"""Every kernel that is shipped for gfx942, and the ragged shapes that the emulator runs it on."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from evaluators.device import Compiler
from evaluators.device_info import target_of
from evaluators.hip.emulator.device import EmulatedDevice
from evaluators.kernel.plan import Plan
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.policy import TimingPolicy
from evaluators.tasks.arguments import Workload
from evaluators.tasks.ragged import ragged_shapes
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from operators.catalog.families import families, random_params
from tests.adversarial.honest.suite import KERNELS as HONEST
from tests.evaluators.shipped import SEEDS, name_of

BACKEND = "hip"
POINTS = 3
DEADLINE_S = 120.0
WRITTEN: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("cross_entropy", "layer_norm", "rms_norm"), ("rows",)),
    **dict.fromkeys(("embedding", "gelu", "residual_add", "rope", "silu_and_mul"), ("elements",)),
    **dict.fromkeys(("batched_gemm", "linear"), ("product_tile", "product_lds")),
    "fp8_gemm": ("fp8_tile", "fp8_mfma"),
    "prefix_scan": ("scan",),
    "sgemm": ("gemm_naive", "gemm_tile", "gemm_pack", "gemm_split", "gemm_lds"),
    "softmax": ("softmax_rows", "softmax_block"),
    "sum_reduction": ("sum_atomic", "sum_two_pass", "sum_block", "sum_block_two_pass"),
    "transpose": ("transpose_tile", "transpose_lds"),
}
"""The families that the catalogue writes, by the task."""

Place = str | Path
"""Of a shipped task: its name or its folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """family: of the catalogue; else the kernel is the file."""

    name: str
    place: Place
    file: Path | None = None
    family: str = ""

    @property
    def task(self) -> Task:
        return _task(self.place)

    @property
    def kernel(self) -> KernelSource:
        """At its default parameters."""
        if self.file is None:
            return families(self.task).sources[self.family]
        return parse_kernel(self.file.read_text())

    def points(self) -> Iterator[KernelSource]:
        """Some of its space, drawn anew for each kernel but alike each time; the file itself where
        it has no parameters."""
        kernel = self.kernel
        rng = np.random.default_rng(list(self.name.encode()))
        found: dict[str, KernelSource] = {}
        for _ in range(20 * POINTS if kernel.space else 0):
            point = kernel.with_params(random_params(kernel, rng))
            found.setdefault(point.id, point)
            if len(found) == POINTS:
                break
        yield from found.values() or (kernel,)


@cache
def _task(place: Place) -> Task:
    return load_task(place)


KERNELS: tuple[Shipped, ...] = (
    *(Shipped(name=name_of(seed), place=seed.parents[1], file=seed) for seed in SEEDS),
    *(
        Shipped(name=f"catalogue/{task}/{family}", place=task, family=family)
        for task, names in WRITTEN.items()
        for family in names
    ),
)
OTHERS = tuple(
    Shipped(name=f"honest/{name}", place=file.parent.name, file=file)
    for name, file in HONEST.items()
)


def ragged_shape(task: Task, kernel: KernelSource) -> Workload:
    """The smallest test shape with a size that no tile of the kernel divides. First come those
    without sizes of 1, then those with a whole tile beside the rest. If there is none, one is
    derived of the tests."""
    tests = task.workloads("tests", BACKEND)
    by_backend = {BACKEND: tests}
    derived = ragged_shapes({"tests": by_backend, "benchmarks": by_backend}).get(BACKEND, ())
    for shapes in (tests, derived):
        found = [
            (1 in shape.dims.values(), not whole, task.nbytes(shape), place)
            for place, shape in enumerate(shapes)
            for whole in _rests(task, kernel, kernel.plan(task, shape, target_of("hip")), shape)
        ]
        if found:
            # Not as one of the tests, the smallest of which is launched 40 times more.
            return replace(shapes[min(found)[-1]], suite="benchmarks")
    raise AssertionError(f"no ragged shape of {task.name} for {kernel.id}")


def step_of(task: Task) -> int:
    """What divides every size that the task can have: 1 of nearly all."""
    return math.gcd(*(n for w in task.workloads("tests", BACKEND) for n in w.dims.values()))


def _rests(task: Task, kernel: KernelSource, plan: Plan, shape: Workload) -> Iterator[bool]:
    """For each size that no tile divides, whether a whole tile is in it. A size of which each
    element has a block of its own has no tiles. Tiles that divide every size leave no rest."""
    steps = plan.launches
    tiles = {size for step in steps for size in (*step.block, int(np.prod(step.block)))}
    tiles |= set(kernel.params_for(shape, target_of("hip")).values())
    tiles = {tile for tile in tiles - {0, 1} if step_of(task) % tile}
    untiled = {extent for step in steps for extent in step.grid}
    for size in set(shape.dims.values()) - untiled - {1}:
        if all(size % tile for tile in tiles):
            yield size > min(tiles, default=0)


class Checker:
    """Checks kernels as an evaluator does, on devices of several orders."""

    def __init__(self, compiler: Compiler, *devices: EmulatedDevice) -> None:
        self._compiler = compiler
        self._devices = devices
        self._evaluators: dict[tuple[str, int], Evaluator] = {}

    def check(self, task: Task, kernel: KernelSource) -> Workload:
        """On its ragged shape in every order. Raises Rejected."""
        shape = ragged_shape(task, kernel)
        compiled = self._compiler.compile(kernel, [kernel.plan(task, shape, target_of("hip"))])
        for device in self._devices:
            self._evaluator(task, device).correctness.check(kernel, compiled, [shape], {})
        return shape

    def close(self) -> None:
        for device in self._devices:
            device.close()

    def _evaluator(self, task: Task, device: EmulatedDevice) -> Evaluator:
        """One for a task and an order, which makes references once."""
        key = (task.hash, device.order)
        if key not in self._evaluators:
            policy = TimingPolicy(deadline_cap_s=DEADLINE_S)
            self._evaluators[key] = Evaluator(task=task, device=device, secret=1, policy=policy)
        return self._evaluators[key]
