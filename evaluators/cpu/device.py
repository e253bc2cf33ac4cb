"""The cpu backend: HIP kernels as native code, one core a device, each kernel in its own child."""

import os
import platform
from typing import overload

from evaluators.baselines.making import check_installed
from evaluators.baselines.process import BaselineProcess
from evaluators.cpu import fibers
from evaluators.cpu.baseline import CpuBaselineSession
from evaluators.cpu.caches import caches
from evaluators.cpu.compiler import CpuCompiler, arch
from evaluators.cpu.emit import ENGINE, LDS_BYTES
from evaluators.cpu.processor.calibrate import peaks
from evaluators.cpu.processor.notes import device_notes
from evaluators.cpu.runner import runner
from evaluators.cpu.script import MAX_THREADS
from evaluators.cpu.session import CpuSession
from evaluators.cpu.toolchain import cpu_info, toolchain
from evaluators.device import Compiled, CompiledBaseline, Session, Telemetry
from evaluators.device_info import BackendMissing, DeviceInfo
from evaluators.kernel.source import KernelSource
from evaluators.tasks.baselines import Baseline

__all__ = ["CpuCompiler", "CpuDevice", "CpuSession", "compiler", "device_count", "open_device"]

PEAK_MARGIN = 1.5
"""Peaks are calibrated, not known: a time is impossible only beyond this factor of them."""
SCRATCH_BYTES = 1 << 27

private_process = False  # each session is a process by itself


def compiler(*, arch: str | None = None, wavefront: int = 64, engine: str = ENGINE) -> CpuCompiler:
    """A compiler for this machine's processor; arch, when given, must be its own.

    Raises BackendMissing.
    """
    _check_machine()
    toolchain()
    if arch not in (None, _arch()):
        raise BackendMissing(f"the cpu backend compiles for {_arch()}, not for {arch}")
    return CpuCompiler(wavefront=wavefront, engine=engine)


def oracle(kernel: KernelSource, info: DeviceInfo, *, sampled: bool = False) -> CpuCompiler:
    """Runs threads as fibers, in random orders, and watches what they read and write."""
    engine = fibers.SAMPLING if sampled else fibers.ENGINE
    return CpuCompiler(wavefront=info.wavefront, engine=engine, macros=info.macros)


def telemetry(info: DeviceInfo) -> Telemetry:
    """A core has none."""
    return dict


def warm() -> None:
    """Nothing is loaded here."""


def device_count() -> int:
    """The cores that this process may use; 0 when there is no compiler or no Linux."""
    try:
        _check_machine()
        toolchain()
    except BackendMissing:
        return 0
    return len(os.sched_getaffinity(0))


def open_device(index: int) -> "CpuDevice":
    """The index-th of the cores that this process may use. Raises BackendMissing."""
    _check_machine()
    cores = sorted(os.sched_getaffinity(0))
    if not 0 <= index < len(cores):
        raise BackendMissing(f"no cpu device {index}: this process may use {len(cores)} cores")
    return CpuDevice(cores[index])


class CpuDevice:
    """One core. Its kernels' children are pinned to it, so that ratios compare like with like.

    Open sessions from a thread that lives as long as they do: a child dies with its thread.
    """

    def __init__(self, core: int) -> None:
        self._core = core
        self._baselines: dict[str, BaselineProcess] = {}  # by id
        tools = toolchain()
        runner()
        known = caches(core)
        measured = peaks(core, known)
        self.info = DeviceInfo(
            backend="cpu",
            name=_processor(),
            arch=_arch(),
            engine=ENGINE,
            compiler=tools.name,
            wavefront=64,
            lds_bytes=LDS_BYTES,
            max_threads=MAX_THREADS,
            cache_bytes=max(known.values()),
            scratch_bytes=SCRATCH_BYTES,
            memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            # half types are computed in float32
            peak_flops=dict.fromkeys(
                ("float32", "float16", "bfloat16", "float8_e4m3fnuz"), measured.flops
            ),
            peak_bytes_per_s=measured.bytes_per_s,
            level_bytes={level: known[level] for level in known if level in measured.bytes_per_s},
            peak_margin=PEAK_MARGIN,
            judges_on_device=False,
            private_process=private_process,
            notes=device_notes(),
        )

    # No caller that knows what it opens is given another session than it may expect.
    @overload
    def open(  # type: ignore[overload-overlap]
        self,
        compiled: CompiledBaseline,
        *,
        memory_bytes: int,
        beside: Session | None = None,
        fenced: bool = False,
    ) -> CpuBaselineSession: ...

    @overload
    def open(
        self,
        compiled: Compiled,
        *,
        memory_bytes: int,
        beside: Session | None = None,
        fenced: bool = False,
    ) -> CpuSession: ...

    def open(
        self,
        compiled: Compiled,
        *,
        memory_bytes: int,
        beside: Session | None = None,
        fenced: bool = False,
    ) -> CpuSession | CpuBaselineSession:
        if not isinstance(beside, CpuSession | CpuBaselineSession | None):
            raise ValueError("beside must be a session on cpu")
        if isinstance(compiled, CompiledBaseline):
            return CpuBaselineSession(
                self._process(compiled.baseline),
                memory_bytes=memory_bytes,
                beside=beside.file if beside is not None else None,
            )
        if (compiled.backend, compiled.arch) != ("cpu", self.info.arch):
            raise ValueError(
                f"compiled for {compiled.backend} {compiled.arch}, this is cpu {self.info.arch}"
            )
        return CpuSession(
            compiled, core=self._core, memory_bytes=memory_bytes, beside=beside, fenced=fenced
        )

    def _process(self, baseline: Baseline) -> BaselineProcess:
        """One serves all sessions: torch takes seconds to load."""
        known = self._baselines.get(baseline.id)
        if known is None or not known.alive():
            check_installed(baseline)
            known = self._baselines[baseline.id] = BaselineProcess(baseline, self._core)
        return known

    def close(self) -> None:
        """Only processes of baselines outlive their sessions."""
        for process in self._baselines.values():
            process.end()
        self._baselines.clear()


def _check_machine() -> None:
    machine = platform.machine()
    if platform.system() != "Linux" or machine not in ("x86_64", "aarch64"):
        raise BackendMissing(
            f"the cpu backend runs on Linux on x86_64 or aarch64, not on {platform.system()} "
            f"on {machine}"
        )


def _arch() -> str:
    return arch()


def _processor() -> str:
    info = cpu_info()
    return info.get("model name") or info.get("CPU part") or platform.machine()
