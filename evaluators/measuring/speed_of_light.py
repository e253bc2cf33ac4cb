"""How near times are to a device's peaks, and those that can't be."""

from collections.abc import Mapping, Sequence

from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Rejected, Status
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task


def speed_of_light(
    task: Task, workloads: Sequence[Workload], info: DeviceInfo, times_us: Mapping[str, float]
) -> dict[str, float]:
    """Floor / time by label, where a floor is known (Task.floor_us).

    times_us: microseconds by label. Raises Rejected(WRONG) for a time that can't be.
    """
    light = {}
    for workload in workloads:
        floor_us = task.floor_us(workload, info)
        if floor_us is None:
            continue
        time_us = times_us[workload.label]
        light[workload.label] = floor_us / time_us
        if light[workload.label] > info.peak_margin:
            raise Rejected(
                Status.WRONG,
                f"measurement fault: {time_us:.3g} us on {workload.label} is faster than "
                f"the speed of light there ({floor_us:.3g} us), so the work was not done "
                "while it was timed",
            )
    return light
