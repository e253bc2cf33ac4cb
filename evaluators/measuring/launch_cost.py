"""What launching alone takes: a kernel that does nothing, timed as kernels are."""

from collections.abc import Callable, Collection, Iterator, Mapping
from statistics import median

from evaluators.device import Compiled, Device
from evaluators.evaluation import Rejected
from evaluators.kernel.baseline import Planned
from evaluators.measuring.policy import TimingPolicy
from evaluators.measuring.trusted_kernels import empty_plan
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

CALLS, LAUNCHES = 5, 100
"""Timed calls after one that warms up, and launches in each of them."""

SHARE = 0.5
"""Of a kernel's time: where launching takes as much, no kernel can be twice as fast as this one."""


class LaunchCost:
    """Microseconds a launch on a device, one after another; timed once, when it is asked for.

    compiled: gives empty_kernel() for the device.
    """

    def __init__(
        self, device: Device, compiled: Callable[[], Compiled], policy: TimingPolicy
    ) -> None:
        self._device, self._compiled, self._policy = device, compiled, policy
        self._launch_us: float | None = None

    def us(self) -> float:
        """0.0 where it can't be told: an empty kernel that fails says nothing of others."""
        if self._launch_us is None:
            try:
                self._launch_us = self._timed()
            except Rejected:
                self._launch_us = 0.0
        return self._launch_us

    def _timed(self) -> float:
        plan = empty_plan()
        count = min(LAUNCHES, self._policy.max_launches)
        deadline_s = self._policy.deadline_cap_s
        with self._device.open(self._compiled(), memory_bytes=0) as session:
            times = [
                session.time(plan, [{}] * count, deadline_s=deadline_s) / count
                for _ in range(1 + CALLS)
            ]
        return median(times[1:])

    def of(
        self,
        kernel: Planned,
        task: Task,
        workloads: Collection[Workload],
        times_us: Mapping[str, float],
    ) -> dict[str, float]:
        """By label, what the launches of a kernel take by themselves, where that is SHARE of its
        time or more."""
        each_us, target = self.us(), self._device.info.target
        found = {w.label: each_us * len(kernel.plan(task, w, target).steps) for w in workloads}
        return {
            label: min(launching_us, times_us[label])
            for label, launching_us in found.items()
            if launching_us >= SHARE * times_us.get(label, float("inf"))
        }


def launching_lines(
    launching_us: Mapping[str, float], times_us: Mapping[str, float]
) -> Iterator[str]:
    """ "N=64: launching is what is measured (3.1 us of 3.4 us); use larger sizes or ..."."""
    for label, own_us in launching_us.items():
        if label in times_us:
            yield (
                f"{label}: launching is what is measured ({own_us:.2g} us of "
                f"{times_us[label]:.2g} us); use larger sizes or weigh it less"
            )
