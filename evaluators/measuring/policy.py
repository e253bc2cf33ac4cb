"""How kernels are timed: the policy, the anchor, and one kernel's lane in a race."""

from collections.abc import Mapping
from dataclasses import dataclass

from evaluators.checks.region import Region
from evaluators.device import Compiled, backend
from evaluators.device_info import DeviceInfo
from evaluators.kernel.source import KernelSource


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingPolicy:
    """How long and how exactly to time.

    min_blocks, max_blocks: paired blocks a shape; min_blocks are enough once budget_s wall
        seconds are spent. link_blocks, link_budget_s: a shape's blocks between two anchors;
        once the seconds are spent, that many over all shapes are enough.
    width: stop when half of the 95% interval of the mean ln ratio is below it; for kernels
        far from their anchor a tenth of the distance, up to loosest.
    interval_us: what a timed call lasts at least, by repeating short kernels, as far as
        max_launches allows.
    skip_warmup_us: kernels known to take longer need no warm-up.
    slower: how much slower than a shape's best is hopeless.
    draws: different inputs that a race takes from the pool for a shape.
    copies: bindings that a call rotates over, on cpu within copies_bytes; on a GPU as many
        more, up to max_copies, as exceed twice the cache.
    refresh_bytes: a call's inputs are drawn anew before it as long as they are smaller.
    verify_bytes: how much of a call's memory is read back and judged, chosen at random.
    """

    min_blocks: int = 3
    max_blocks: int = 40
    budget_s: float = 1.0
    link_blocks: int = 30
    link_budget_s: float = 6.0
    width: float = 0.01
    loosest: float = 0.05
    interval_us: float = 8000.0
    max_launches: int = 2000
    skip_warmup_us: float = 5000.0
    slower: float = 3.0
    draws: int = 4
    copies: int = 3
    max_copies: int = 64
    copies_bytes: int = 1 << 27
    refresh_bytes: int = 1 << 26
    verify_bytes: int = 1 << 26
    deadline_factor: float = 10.0
    deadline_slack_s: float = 2.0
    deadline_cap_s: float = 20.0

    def deadline_s(self, expected_us: float | None) -> float:
        """For a run expected to last that long; unknown: the cap."""
        if expected_us is None:
            return self.deadline_cap_s
        allowed = self.deadline_factor * expected_us / 1e6 + self.deadline_slack_s
        return min(allowed, self.deadline_cap_s)

    def copies_of(self, region: Region, info: DeviceInfo) -> int:
        """How many bindings a call may rotate over."""
        if info.judges_on_device:
            return min(max(self.copies, 2 * info.cache_bytes // region.nbytes + 1), self.max_copies)
        return max(1, min(self.copies, self.copies_bytes // region.nbytes))


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


GPU_POLICY = TimingPolicy(
    min_blocks=5,
    width=0.005,
    interval_us=1000.0,
    max_launches=200,
    budget_s=0.5,
    refresh_bytes=1 << 62,  # data is renewed and results are judged on the device itself
    verify_bytes=1 << 62,
)
"""A graph of at least a millisecond, or one launch of a long kernel, is exact to 0.2% (H200):
with 99% confidence five blocks tell 2% apart."""


def policy_of(backend_name: str) -> TimingPolicy:
    """How a backend's devices are timed. Raises BackendMissing."""
    return GPU_POLICY if backend(backend_name).private_process else TimingPolicy()
