"""How kernels are timed: the policy, the anchor, and one kernel's lane in a race."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluators.device import Compiled, backend, times
from evaluators.device_info import DeviceInfo
from evaluators.kernel.baseline import Planned
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import Workload

SIMILAR = 2.0
"""Kernels within this factor get equal calls, so that what a call costs cancels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingPolicy:
    """How long and how exactly to time.

    min_blocks, max_blocks: paired blocks a shape; min_blocks are enough once budget_s wall
        seconds are spent. link_blocks, link_budget_s: a shape's blocks between two anchors;
        once the seconds are spent, that many over all shapes are enough.
    least_blocks, behind: so many blocks are enough for a kernel that is shown to be slower than the
        best by more than that part, on average, once its interval is within loosest.
    width: stop when half of the 95% interval of the mean ln ratio is below it; for kernels
        far from their anchor a tenth of the distance, up to loosest.
    interval_us: what a timed call lasts at least, by repeating short kernels, as far as
        max_launches allows.
    skip_warmup_us: kernels known to take longer need no warm-up.
    slower: how much slower than a shape's best is hopeless.
    max_copies, copies_bytes: how many bindings a shape gets at most, since each application of a
        call needs its own with inputs of its own, and their bytes (those of their scratch, too):
        about what a kernel can touch in interval_us at the memory's speed.
    verify_bytes: how much of a call's memory is judged in full, chosen at random; of the rest
        each output is judged by elements picked at random.
    fresh_bytes: shapes up to this size are checked on inputs that never come again.
    shapes: how many benchmark shapes are checked and timed, see timed_shapes(); None: all.
    thorough: benchmark and held-out shapes are tried with every class of unusual values, random
        shapes are held-out ones too, and what only kernels that are ahead must bear is asked of
        others.
    """

    min_blocks: int = 3
    max_blocks: int = 40
    least_blocks: int = 3
    behind: float = 0.05
    budget_s: float = 1.0
    link_blocks: int = 30
    link_budget_s: float = 6.0
    width: float = 0.01
    loosest: float = 0.05
    interval_us: float = 8000.0
    max_launches: int = 2000
    skip_warmup_us: float = 5000.0
    slower: float = 3.0
    max_copies: int = 32
    copies_bytes: int = 1 << 26
    verify_bytes: int = 1 << 23
    fresh_bytes: int = 1 << 26
    shapes: int | None = None
    thorough: bool = False
    deadline_factor: float = 10.0
    deadline_slack_s: float = 2.0
    deadline_cap_s: float = 20.0

    def deadline_s(self, expected_us: float | None) -> float:
        """For a run expected to last that long; unknown: the cap."""
        if expected_us is None:
            return self.deadline_cap_s
        allowed = self.deadline_factor * expected_us / 1e6 + self.deadline_slack_s
        return min(allowed, self.deadline_cap_s)

    def room(self, info: DeviceInfo, shapes: int) -> int:
        """Bytes that each of so many shapes may take for bindings: all together an eighth of a GPU,
        which a search and a sitting share, each with references and scratch beside."""
        if not info.judges_on_device or not info.memory_bytes:
            return self.copies_bytes
        return min(self.copies_bytes, info.memory_bytes // (8 * shapes))

    def copies_of(self, nbytes: int, info: DeviceInfo, wanted: int, shapes: int = 1) -> int:
        """How many bindings of so many bytes a shape gets, for wanted applications a call.

        A GPU gets as many, too, as exceed twice its cache, so that a short call finds its own
        swept from it.
        """
        if info.judges_on_device:
            wanted = max(wanted, 2 * info.cache_bytes // nbytes + 1)
        return max(1, min(wanted, self.max_copies, self.room(info, shapes) // nbytes))


def timed_shapes(benchmarks: Sequence[Workload], count: int | None) -> tuple[Workload, ...]:
    """So many of the benchmark shapes, far from each other in the logarithms of their sizes, in
    the task's order; all where count is None or none is left out."""
    if count is None or count >= len(benchmarks):
        return tuple(benchmarks)

    def apart(one: Workload, two: Workload) -> tuple[float, bool]:
        sizes = zip(one.dims.values(), two.dims.values(), strict=True)
        return sum(abs(math.log2(a / b)) for a, b in sizes), one.setting != two.setting

    chosen = [0]
    while len(chosen) < count:
        left = [place for place in range(len(benchmarks)) if place not in chosen]
        chosen.append(
            max(left, key=lambda at: min(apart(benchmarks[at], benchmarks[c]) for c in chosen))
        )
    return tuple(benchmarks[place] for place in sorted(chosen))


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """What the candidates of an epoch are timed against.

    links: paired ln(previous anchor's time / next anchor's time) by workload label, from the
    naive seed up to this anchor; empty for the naive seed itself.
    """

    kernel_id: str
    kernel: KernelSource
    compiled: Compiled
    links: tuple[Mapping[str, tuple[float, ...]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineAnchor:
    """A baseline that a kernel is raced with. kernel_id: a kernel's own, or the baseline's."""

    name: str
    kernel_id: str
    kernel: Planned
    compiled: Compiled


Rival = Anchor | BaselineAnchor


GPU_POLICY = TimingPolicy(
    min_blocks=5,
    width=0.005,
    interval_us=1000.0,
    max_launches=200,
    budget_s=0.5,
    link_blocks=12,
    max_copies=48,
    copies_bytes=1 << 31,
    verify_bytes=1 << 62,  # results are judged on the device itself
    fresh_bytes=1 << 20,
)
"""A graph of at least a millisecond, or one launch of a long kernel, is exact to 0.2% (H200):
with 99% confidence five blocks tell 2% apart. Twelve make a link as exact as sittings agree."""


UNTIMED_POLICY = TimingPolicy(deadline_slack_s=20.0, deadline_cap_s=120.0)
"""Of emulated devices, where a right kernel takes seconds for what a GPU does in microseconds."""


def policy_of(backend_name: str) -> TimingPolicy:
    """How a backend's devices are timed. Raises BackendMissing."""
    if not times(backend_name):
        return UNTIMED_POLICY
    return GPU_POLICY if backend(backend_name).private_process else TimingPolicy()


def usual_policy(info: DeviceInfo) -> TimingPolicy:
    """The same, of a device that may be on another machine."""
    if not info.timed:
        return UNTIMED_POLICY
    return GPU_POLICY if info.private_process else TimingPolicy()


def balanced(times_us: Sequence[float], policy: TimingPolicy) -> list[int]:
    """How often each lane applies its kernel in a call, from what an application takes.

    Similar kernels get equal calls; beside a slow kernel a quick one runs up to three
    intervals, to average its noise.
    """
    slow, interval = max(times_us), policy.interval_us
    counts = [
        math.ceil((max(interval, min(slow, 3 * interval)) if t < slow else interval) / t)
        for t in times_us
    ]
    return [max(counts)] * len(counts) if slow < SIMILAR * min(times_us) else counts


def applications_wanted(
    expected_us: Sequence[Mapping[str, float]], policy: TimingPolicy
) -> dict[str, int]:
    """By label, applications that some lane may want in a call, where all lanes' rough times are
    known.
    """
    labels = set.intersection(*(set(times) for times in expected_us))
    return {
        label: max(balanced([times[label] for times in expected_us], policy)) for label in labels
    }
