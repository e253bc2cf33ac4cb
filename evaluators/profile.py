"""Profiles one kernel file with ncu or rocprofv3, where they are, and says what to try."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluators.device import BackendName, backend
from evaluators.profile_tables import (
    NCU_METRICS,
    ROCPROF_GROUPS,
    BadTable,
    KernelProfile,
    read_ncu,
    read_rocprof,
)

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
    """reason: why there is nothing, in one sentence; else empty."""

    kernels: tuple[KernelProfile, ...] = ()
    reason: str = ""

    @property
    def advice(self) -> tuple[str, ...]:
        """Of every kernel, the longest first."""
        ordered = sorted(self.kernels, key=lambda kernel: -kernel.time_us)
        return tuple(sentence for kernel in ordered for sentence in advice(kernel))


def profile(file: Path, task: str | Path, backend_name: BackendName, *, shape: str = "") -> Profile:
    """One kernel file on its largest benchmark shape, or on the one of that label."""
    tool = TOOLS.get(backend_name)
    if tool is None:
        return Profile(reason=f"kernels on {backend_name} are not profiled")
    found = shutil.which(tool) or shutil.which(tool, path=os.pathsep.join(_usual_places()))
    if found is None:
        return Profile(reason=f"{tool} is not on PATH, so there is no profile")
    target = ["--task", str(task), "--backend", backend_name, "--shape", shape]
    target = [sys.executable, "-m", "evaluators.profile_target", str(file.resolve()), *target]
    with tempfile.TemporaryDirectory() as folder:
        try:
            if backend_name == "cuda":
                return Profile(kernels=_run_ncu(found, target, Path(folder)))
            return Profile(kernels=_run_rocprof(found, target, Path(folder)))
        except BadTable as bad:
            return Profile(reason=str(bad))


def _usual_places() -> list[str]:
    """Where the vendors' installers put their tools, the newest first."""
    nsight = sorted(map(str, Path("/opt/nvidia/nsight-compute").glob("*")), reverse=True)
    return ["/opt/rocm/bin", "/usr/local/cuda/bin", *nsight]


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


def _run_ncu(tool: str, target: Sequence[str], folder: Path) -> tuple[KernelProfile, ...]:
    log = folder / "ncu.csv"
    done = _run(
        [
            *(tool, "--csv", "--page", "raw", "--print-units", "base"),
            # Locked clocks need rights, and would not be the clocks that kernels are timed at.
            *("--clock-control", "none", "--target-processes", "application-only"),
            *("--log-file", str(log), "--metrics", ",".join(NCU_METRICS)),
            *target,
        ]
    )
    text = log.read_text(errors="replace") if log.exists() else ""
    if "ERR_NVGPUCTRPERM" in text + done:
        raise BadTable(
            "ncu may not read the GPU's counters: run it as root, or load the driver with "
            "NVreg_RestrictProfilingToAdminUsers=0"
        )
    return read_ncu(text or done)


def _run_rocprof(tool: str, target: Sequence[str], folder: Path) -> tuple[KernelProfile, ...]:
    texts: list[str] = []
    said = ""
    for number, group in enumerate(ROCPROF_GROUPS):
        place = folder / str(number)
        options = ["--output-format", "csv", "-d", str(place), "-o", "profile"]
        said = _run([tool, *options, "--pmc", *group, "--", *target])
        texts += [file.read_text() for file in place.glob("**/*counter_collection.csv")]
    if not texts:
        last = next((line for line in reversed(said.splitlines()) if line.strip()), "nothing")
        raise BadTable(f"rocprofv3 wrote no table; it said: {last.strip()[:300]}")
    peak = backend("hip").open_device(0).info.peak_bytes_per_s.get("dram")
    return read_rocprof(texts, peak_bytes_per_s=peak)


def _run(command: Sequence[str]) -> str:
    """What it printed. Raises BadTable when it takes too long."""
    root = str(Path(__file__).resolve().parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)])}
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BadTable(f"{command[0]} took longer than {DEADLINE_S:g} s") from None
    return done.stdout + done.stderr
