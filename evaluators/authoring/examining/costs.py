"""What a task needs: memory on host and device, the reference's time; and its speed of light."""

import time
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluators.authoring.examining.finding import Finding, note, weak, wrong
from evaluators.authoring.examining.runs import quiet
from evaluators.dtypes import given_as
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

PART = "cost"
LIGHT = "speed of light"
PATIENCE_S = 20.0
"""For one call of reference(), which checks wait for."""
MEASURED_S = 30.0
"""For all calls that are measured; larger shapes are estimated from these."""
DEVICE_GIB, HOST_GIB = 40.0, 16.0
LAUNCH_US = 8.0
"""About what launching a kernel takes on a GPU, and beginning and ending it."""
GPU_BYTES_PER_S, GPU_FLOPS = 5.3e12, 163.4e12
"""Of an MI300X: its memory's peak, and that of float32 arithmetic on its vector units."""
SLOW_LIGHT = 1e-4
GIB = float(1 << 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Of one benchmark shape. device_bytes: of its arguments, once. host_bytes: at the peak, in
    reference() with its inputs. reference_s: of one call. estimated: from smaller shapes."""

    label: str
    where: str
    device_bytes: int
    host_bytes: float
    reference_s: float
    estimated: bool


def needs(task: Task, backend: str) -> list[Need]:
    """Of the benchmarks of the backend and of GPUs, the smallest first. Raises TaskError."""
    shapes: dict[str, tuple[Workload, str]] = {}
    for name in dict.fromkeys((backend, "hip")):
        where = "GPUs" if name == "hip" else name
        for workload in task.workloads("benchmarks", name):
            shapes.setdefault(workload.label, (workload, where))
    found: list[Need] = []
    spent = 0.0
    rate_s = rate_bytes = 0.0
    for workload, where in sorted(shapes.values(), key=lambda one: task.nbytes(one[0])):
        work, nbytes = _work(task, workload), task.nbytes(workload)
        expected_s = rate_s * work
        if found and (spent + expected_s > MEASURED_S or rate_bytes * nbytes > 4 * GIB):
            host, seconds, estimated = rate_bytes * nbytes, expected_s, True
        else:
            host, seconds = _measured(task, workload)
            estimated = False
            spent += seconds
            rate_s, rate_bytes = seconds / work, host / max(nbytes, 1)
        found.append(
            Need(
                label=workload.label or "its only shape",
                where=where,
                device_bytes=nbytes,
                host_bytes=host,
                reference_s=seconds,
                estimated=estimated,
            )
        )
    return found


def _work(task: Task, workload: Workload) -> float:
    flops = float(task.flops.evaluate(workload.env)) if task.flops is not None else 0.0
    return max(flops, float(task.nbytes(workload)), 1.0)


def _measured(task: Task, workload: Workload) -> tuple[float, float]:
    """Bytes at the peak, with the inputs, and seconds of reference() alone."""
    own = task.own
    if own.reference is None:
        return float(task.nbytes(workload)), 0.0
    tracemalloc.start()
    try:
        with quiet():
            inputs = task.inputs(workload, seed=1)
            wider = {k: array.astype(given_as(array.dtype)) for k, array in inputs.items()}
            names = task.names(workload, wider)
            tracemalloc.reset_peak()
            began = time.perf_counter()
            own.call(own.reference, names)
            seconds = time.perf_counter() - began
        return float(tracemalloc.get_traced_memory()[1]), seconds
    finally:
        tracemalloc.stop()


def look_at_needs(found: Sequence[Need], task: Task) -> Iterator[Finding]:
    """Where the task has a reference.hip, reference() waits for no shape of GPUs."""
    on_device = (task.folder / "reference.hip").is_file()
    for one in found:
        on_host = not on_device or one.where != "GPUs"
        about = "about " if one.estimated else ""
        if on_host and one.reference_s > PATIENCE_S:
            yield weak(
                PART,
                f"reference() takes {about}{one.reference_s:.0f} s on {one.label} ({one.where}), "
                "and every new draw waits for it",
                "write it with whole arrays, take smaller benchmarks, or add a reference.hip for "
                "GPUs",
            )
        if on_host and one.host_bytes > HOST_GIB * GIB:
            yield weak(
                PART,
                f"reference() needs {about}{one.host_bytes / GIB:.0f} GiB on {one.label} "
                f"({one.where})",
                "keep fewer whole arrays in it, or take smaller benchmarks",
            )
        if one.device_bytes > DEVICE_GIB * GIB:
            yield weak(
                PART,
                f"the arguments are {one.device_bytes / GIB:.0f} GiB on {one.label} ({one.where}); "
                "a device also holds references and copies",
                "take smaller benchmarks",
            )


def look_at_launches(task: Task) -> Iterator[Finding]:
    """Benchmarks of GPUs that are over before a launch is: no fault where they are the fewer."""
    small, benchmarks = [], task.workloads("benchmarks", "hip")
    for workload in benchmarks:
        moved = float(task.bytes.evaluate(workload.env)) if task.bytes else task.nbytes(workload)
        flops = float(task.flops.evaluate(workload.env)) if task.flops else 0.0
        least_us = 1e6 * max(moved / GPU_BYTES_PER_S, flops / GPU_FLOPS)
        if least_us < LAUNCH_US / 4:
            small.append((workload.label, least_us))
    if small:
        shown = ", ".join(f"{label} ({us:.2g} µs)" for label, us in small[:3])
        say = weak if 2 * len(small) >= len(benchmarks) else note
        yield say(
            PART,
            f"on an MI300X {len(small)} of {len(benchmarks)} benchmarks could be done in less than "
            f"a launch takes: {shown}: what is measured there is launching",
            "take larger sizes under benchmarks: default, unless small ones are what you run",
        )


def look_at_light(task: Task, light: Mapping[str, float]) -> Iterator[Finding]:
    """light: the naive seed's share of the roof, by benchmark label."""
    if task.flops is None and task.bytes is None:
        yield note(
            LIGHT,
            "task.yaml states neither flops nor bytes: no speed of light is told",
            "state what the problem needs at least: arithmetic, and bytes that must be moved",
        )
        return
    for label, share in light.items():
        if share > 1:
            yield wrong(
                LIGHT,
                f"the naive seed seems to run at {100 * share:.0f}% of it on {label}",
                "flops or bytes are more than the problem needs: count each input once, each "
                "output once, and no work that can be left out",
            )
            return
    if light and max(light.values()) < SLOW_LIGHT:
        yield note(
            LIGHT,
            f"the naive seed runs at {100 * max(light.values()):.2g}% of it at best",
            "if that is not for a slow seed, flops and bytes are less than the problem needs",
        )
