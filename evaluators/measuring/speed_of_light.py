"""How near times are to what a device's peaks allow, and those that can't be."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluators.device_info import OPERATION_FLOPS, DeviceInfo
from evaluators.evaluation import Rejected, Status
from evaluators.measuring.arithmetic import arithmetic
from evaluators.measuring.policy import TimingPolicy, usual_policy
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Roof:
    """What a kernel in the admitted arithmetic takes at least, and what bounds it."""

    time_us: float
    bound: Literal["arithmetic", "operations", "memory"]


def speed_of_light(
    task: Task,
    workloads: Sequence[Workload],
    info: DeviceInfo,
    times_us: Mapping[str, float],
    policy: TimingPolicy | None = None,
) -> dict[str, float]:
    """Roof / time by label, where a roof is known.

    times_us: microseconds by label. policy: by default the backend's. Raises Rejected(WRONG) for a
    time that can't be.
    """
    light = {}
    for workload in workloads:
        time_us, floor_us = times_us[workload.label], least_us(task, workload, info)
        if floor_us is not None and floor_us > info.peak_margin * time_us:
            raise Rejected(
                Status.WRONG,
                f"measurement fault: {time_us:.3g} us on {workload.label} is faster than "
                f"the speed of light there ({floor_us:.3g} us), so the work was not done "
                "while it was timed",
            )
        found = roof(task, workload, info, policy)
        if found is not None:
            light[workload.label] = found.time_us / time_us
    return light


def roof(
    task: Task, workload: Workload, info: DeviceInfo, policy: TimingPolicy | None = None
) -> Roof | None:
    """The slowest of arithmetic, operations and memory, by the roofline (Williams et al., CACM
    2009); None if nothing is known.

    Arithmetic is the one that the task admits: split products (three of tf32 for one of float32)
    may be faster. Memory is the levels that the rotation over bindings leaves, by the policy.
    """
    work, moving = _work(task, workload, info), _moved_bytes(task, workload)
    bounds = dict(work)
    if moving and info.levels:
        least = max(work.values(), default=0.0)
        bounds["memory"] = _rotated_s(task, workload, info, policy or usual_policy(info), least)
    if not bounds:
        return None
    bound = max(bounds, key=lambda name: bounds[name])
    return Roof(time_us=bounds[bound] * 1e6, bound=bound)


def least_us(task: Task, workload: Workload, info: DeviceInfo) -> float | None:
    """What no kernel is faster than: every operation one flop of the fastest arithmetic there is,
    and as much as can be in the nearest memory levels; None if nothing is known."""
    floors = []
    if arithmetic(task.on(workload), info):
        operations = sum(_operations(task, workload).values())
        floors.append((_flops(task, workload) + operations) / max(info.peak_flops.values()))
    moved = _moved_bytes(task, workload)
    if moved and info.levels:
        floors.append(_moving_s(moved, min(moved, task.nbytes(workload)), info))
    return max(floors, default=0.0) * 1e6 or None


def _flops(task: Task, workload: Workload) -> float:
    return float(task.flops.evaluate(workload.env)) if task.flops is not None else 0.0


def _moved_bytes(task: Task, workload: Workload) -> float:
    return float(task.bytes.evaluate(workload.env)) if task.bytes is not None else 0.0


def _operations(task: Task, workload: Workload) -> dict[str, float]:
    return {name: float(n.evaluate(workload.env)) for name, n in task.operations.items()}


def _work(
    task: Task, workload: Workload, info: DeviceInfo
) -> dict[Literal["arithmetic", "operations", "memory"], float]:
    """Seconds of arithmetic and of operations.

    One after the other where the same units do both; side by side where operations have units of
    their own, which kernels may help out by multiply-adds on the vector units.
    """
    peak = info.peak_flops.get(arithmetic(task.on(workload), info), 0.0)
    if not peak:
        return {}
    flops, operations = _flops(task, workload), _operations(task, workload)
    cost = sum(n * OPERATION_FLOPS[name] for name, n in operations.items())
    if not info.special_per_s:
        bound: Literal["arithmetic", "operations"] = "operations" if cost > flops else "arithmetic"
        return {bound: (flops + cost) / peak} if flops + cost else {}
    found: dict[Literal["arithmetic", "operations", "memory"], float] = {}
    if flops:
        found["arithmetic"] = flops / peak
    if operations:
        found["operations"] = _special_s(operations, info)
    return found


def _special_s(operations: Mapping[str, float], info: DeviceInfo) -> float:
    """Seconds with the work dealt out at best between special and vector units.

    In t seconds the first do s t operations, the others v t flops. With a special unit's
    operation rated at x flops, t (v + x s) is at least the sum of n min(cost, x), for every x:
    the linear programme's dual, whose best x is one of the costs.
    """
    vector = info.peak_flops.get("float32", 0.0)
    return max(
        sum(n * min(OPERATION_FLOPS[name], x) for name, n in operations.items())
        / (vector + x * info.special_per_s)
        for x in {OPERATION_FLOPS[name] for name in operations}
    )


def _rotated_s(
    task: Task, workload: Workload, info: DeviceInfo, policy: TimingPolicy, least_s: float
) -> float:
    """Seconds to move a workload's bytes when a call rotates over bindings.

    On cpu the quickest kernel has the most applications in a call, each on bytes that lie no
    nearer than all of them fit; a GPU's caches are swept of what does not fit with all bindings.
    """
    moved = _moved_bytes(task, workload)
    nbytes = min(moved, task.nbytes(workload))
    copies = policy.copies_of(task.nbytes(workload), info, policy.max_copies)
    if info.judges_on_device:
        fits = copies * nbytes <= info.cache_bytes
        return _moving_s(moved, nbytes if fits else math.inf, info)
    applications = 1
    for more in range(2, copies + 1):
        time_s = max(least_s, _moving_s(moved, more * nbytes, info))
        if more * time_s * 1e6 > policy.interval_us:
            break
        applications = more
    return _moving_s(moved, applications * nbytes, info)


def _moving_s(moved: float, resident: float, info: DeviceInfo) -> float:
    """Seconds to move bytes of a set that lies as near as its size allows: what a level holds
    comes from there, the rest from the levels beyond, the last of which holds everything."""
    *near, (_, _, last_bytes_per_s) = info.levels
    if math.isinf(resident):
        return moved / last_bytes_per_s
    seconds = nearer = 0.0
    for _, holds, bytes_per_s in near:
        seconds += max(0.0, min(resident, holds) - nearer) / bytes_per_s
        nearer = max(nearer, min(resident, holds))
    seconds += (resident - nearer) / last_bytes_per_s
    return moved * seconds / resident
