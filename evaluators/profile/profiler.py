"""Profiles one kernel file with ncu or rocprofv3, where they are, and says what to try."""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from evaluators.device import backend
from evaluators.device_info import DeviceInfo
from evaluators.profile.run import NoRights, find_tool, keep_raw, run_ncu, run_rocprof
from evaluators.profile.tables import BadTable, KernelProfile

DEADLINE_S = 300.0
TOOLS = {"cuda": "ncu", "hip": "rocprofv3"}
HIGH, LOW = 60.0, 40.0
"""Percent of a peak that bounds a kernel; percent that leaves room."""
CONFLICTS = 10.0
"""Percent of LDS cycles lost to bank conflicts that is worth a change."""
SECTORS = 6.0
"""More 32-byte pieces a load than neighbouring 4-byte elements take (4), with some slack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """reason: why there is nothing, or what could not be counted, in one sentence; else empty.

    seconds: how long it took.

    hopeless: there is no tool here, or it has no rights; no other kernel would fare better.
    """

    kernels: tuple[KernelProfile, ...] = ()
    reason: str = ""
    hopeless: bool = False
    seconds: float = 0.0

    @property
    def advice(self) -> tuple[str, ...]:
        """Of every kernel, the longest first."""
        ordered = sorted(self.kernels, key=lambda kernel: -kernel.time_us)
        return tuple(sentence for kernel in ordered for sentence in advice(kernel))


def profile(
    file: Path,
    task: str | Path,
    backend_name: str,
    *,
    shape: str = "",
    info: DeviceInfo | None = None,
    deadline_s: float = DEADLINE_S,
    keep: Path | None = None,
) -> Profile:
    """One kernel file on its largest benchmark shape, or on the one of that label.

    Nothing else should run on the device meanwhile. info: of the device, which is else opened
    here to learn it. deadline_s: for all runs of the profiler together. Whatever goes wrong
    with the profiler is the Profile's reason. keep: a folder to be made for the tool's own tables
    and what it printed, as they are; also where they can't be read.
    """
    tool = TOOLS.get(backend_name)
    if tool is None:
        return Profile(reason=f"kernels on {backend_name} are not profiled", hopeless=True)
    found = find_tool(tool)
    if found is None:
        return Profile(reason=f"{tool} is not on PATH, so there is no profile", hopeless=True)
    target = ["--task", str(task), "--backend", backend_name, "--shape", shape]
    target = [sys.executable, "-m", "evaluators.profile.target", str(file.resolve()), *target]
    began = time.monotonic()
    until = began + deadline_s
    # A tool that is ended in the middle may leave what still writes.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            if backend_name == "cuda":
                made = Profile(kernels=run_ncu(found, target, Path(folder), until=until))
            else:
                peak = (info or _info(backend_name)).peak_bytes_per_s.get("dram")
                kernels, missing = run_rocprof(
                    found, target, Path(folder), until=until, peak_bytes_per_s=peak
                )
                made = Profile(kernels=kernels, reason=missing)
        except BadTable as bad:
            made = Profile(reason=str(bad), hopeless=isinstance(bad, NoRights))
        except OSError as error:
            made = Profile(reason=f"{tool} could not be run: {error}")
        if keep is not None:
            keep_raw(Path(folder), keep)
    return replace(made, seconds=time.monotonic() - began)


def profile_source(
    source: str, task: str | Path, backend_name: str, *, info: DeviceInfo, deadline_s: float
) -> Profile:
    """See profile(), for a kernel's text."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.hip"
        file.write_text(source, encoding="utf-8")
        return profile(file, task, backend_name, info=info, deadline_s=deadline_s)


def _info(backend_name: str) -> DeviceInfo:
    with closing(backend(backend_name).open_device(0)) as device:
        return device.info


def advice(kernel: KernelProfile) -> tuple[str, ...]:
    """What bounds a kernel and what to try, in sentences for whoever changes it next."""
    head = f"{kernel.kernel} ({kernel.time_us:,.4g} us)"
    return (f"{head}: {_bound(kernel)}", *_details(kernel))


def _bound(kernel: KernelProfile) -> str:
    memory, compute = kernel.memory, kernel.compute
    if memory is None or compute is None:
        return "its bound is unknown, for want of counters."
    shares = f"{memory:.0f}% of memory bandwidth, {compute:.0f}% of the busiest unit"
    if memory >= HIGH and memory >= compute:
        return (
            f"bound by device memory ({shares}): move fewer bytes (fuse passes, reuse tiles in "
            "LDS or registers, narrower types), as faster arithmetic gains nothing."
        )
    if compute >= HIGH:
        return (
            f"bound by its arithmetic or load units ({shares}): fewer instructions (wider loads, "
            "unrolling, less address arithmetic) or matrix instructions gain; fewer bytes don't."
        )
    return (
        f"bound by latency ({shares}): nothing is near its limit, so keep more work in flight: "
        "more wavefronts, several independent elements a thread, loads ahead of their use."
    )


def _details(kernel: KernelProfile) -> Iterator[str]:
    if kernel.lds_conflicts is not None and kernel.lds_conflicts > CONFLICTS:
        yield (
            f"{kernel.lds_conflicts:.0f}% of LDS cycles are lost to bank conflicts: pad the rows "
            "by one element, or swizzle the column with the row."
        )
    if kernel.sectors is not None and kernel.sectors > SECTORS:
        yield (
            f"a global load takes {kernel.sectors:.1f} pieces of 32 bytes: let neighbouring "
            "threads read neighbouring addresses (4 is the least for 4-byte elements, 16 for "
            "16-byte vectors)."
        )
    if kernel.occupancy is not None and kernel.occupancy < LOW:
        yield _occupancy(kernel, kernel.occupancy)
    if kernel.memory_stalled is not None and kernel.memory_stalled > CONFLICTS:
        yield (
            f"the memory unit is stalled {kernel.memory_stalled:.0f}% of the time: fewer, wider "
            "and aligned accesses."
        )
    if kernel.waiting:
        what, wavefronts = max(kernel.waiting, key=lambda item: item[1])
        if wavefronts > 2:
            yield f"{wavefronts:.1f} wavefronts wait for {_WAITS[what]}"
    if kernel.cache_hits is not None and kernel.cache_hits < LOW and (kernel.memory or 0) >= HIGH:
        yield (
            f"only {kernel.cache_hits:.0f}% of accesses hit the L2: order the blocks so that "
            "neighbours share their tiles."
        )


_WAITS = {
    "memory": "device memory whenever one issues: load the next tile before using this one.",
    "LDS": "LDS whenever one issues: hold more of the tile in registers, read it in vectors.",
    "barrier": "a barrier whenever one issues: fewer barriers, double-buffered tiles, or "
    "smaller blocks.",
}


def _occupancy(kernel: KernelProfile, occupancy: float) -> str:
    limit = kernel.occupancy_limit
    registers = f" ({kernel.registers} registers a thread)" if kernel.registers else ""
    if limit is not None and occupancy < 0.7 * limit:
        return (
            f"occupancy is {occupancy:.0f}% where {limit:.0f}% would fit: too few or unequal "
            "blocks; use smaller tiles, split the longest dimension, or more blocks."
        )
    return (
        f"occupancy is {occupancy:.0f}%, held down by registers or LDS{registers}: smaller tiles "
        "or __launch_bounds__ would let more wavefronts in, if latency is what binds."
    )
