"""What the devices of two vendors share: compiled kernels become sessions on one driver."""

from evaluators.device import Compiled, CompiledBaseline, Session
from evaluators.device_info import BackendMissing, DeviceInfo
from evaluators.gpu.baseline import GpuBaselineSession
from evaluators.gpu.driver import Driver
from evaluators.gpu.session import GpuSession

SCRATCH_BYTES = 4 << 30
"""That a kernel may ask for on one workload: parts of large products, of every expert's rows."""


def scratch_of(memory_bytes: int) -> int:
    """The same, of a smaller device a sixteenth of its memory, or 1 GiB."""
    return min(SCRATCH_BYTES, max(1 << 30, memory_bytes // 16))


class GpuDevice:
    """One GPU; see evaluators.device.Device.

    what_to_do: where its compiler compiles for inspection only, what brings one for running.
    """

    what_to_do = ""

    def __init__(self, info: DeviceInfo, driver: Driver) -> None:
        self.info = info
        self._driver = driver

    def open(
        self,
        compiled: Compiled,
        *,
        memory_bytes: int,
        beside: Session | None = None,
        fenced: bool = False,
    ) -> GpuSession:
        if not isinstance(beside, GpuSession | None):
            raise ValueError(f"beside must be a session on {self.info.backend}")
        if isinstance(compiled, CompiledBaseline):
            return GpuBaselineSession(
                self._driver, compiled, memory_bytes=memory_bytes, beside=beside
            )
        self.check(compiled)
        return GpuSession(
            self._driver,
            compiled,
            memory_bytes=memory_bytes,
            lds_bytes=self.info.lds_bytes,
            threads=self.info.max_threads,
            beside=beside,
            has_bytes=self.info.memory_bytes,
        )

    def check(self, compiled: Compiled) -> None:
        """Raises ValueError: for another device; BackendMissing: made for inspection only."""
        here = (self.info.backend, self.info.arch)
        if (compiled.backend, compiled.arch.split(":")[0]) != here:
            raise ValueError(
                f"compiled for {compiled.backend} {compiled.arch}, this is {' '.join(here)}"
            )
        if compiled.inspection_only:
            raise BackendMissing(
                f"{compiled.compiler} compiles for inspection only: {self.what_to_do}"
            )

    def close(self) -> None:
        self._driver.close()
