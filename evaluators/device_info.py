"""What is known of a device before anything runs on it, and how one is missing or at fault."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

BackendName = Literal["hip", "cuda", "cpu"]


BACKENDS: tuple[BackendName, ...] = ("cpu", "cuda", "hip")


class BackendMissing(Exception):
    """This machine can't run the backend. One sentence: what is missing and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceInfo:
    """What is known of a device before anything runs on it.

    peak_flops: FLOP/s by dtype name; peak_bytes_per_s: by memory level ("dram", "cache").
    compute_units, partition: of a GPU that can be divided, and what it is divided into (SPX: the
    whole); 0 and "" elsewhere. pci_address: such as 0000:c1:00.0; "" on cpu.
    """

    backend: BackendName
    name: str
    arch: str  # gfx942, sm_90, x86-64
    engine: str  # what executes launches: "hip", "cuda", "cpu-fission"
    compiler: str  # "g++ 12.2.0", "hiprtc 7.2", "nvrtc 13.0"
    wavefront: int
    lds_bytes: int  # a block's limit, static + dynamic
    max_threads: int  # a block's limit
    cache_bytes: int  # last level; timing rotates over more than this
    peak_flops: Mapping[str, float] = field(default_factory=dict)
    peak_bytes_per_s: Mapping[str, float] = field(default_factory=dict)
    compute_units: int = 0
    partition: str = ""
    pci_address: str = ""

    @property
    def device_class(self) -> str:
        """Times of different classes never meet in one population."""
        divided = f"{self.compute_units} CUs {self.partition}".strip()
        part = (divided,) if self.compute_units else ()
        return "/".join((self.backend, self.name, *part, self.arch, self.engine))


class DeviceFault(RuntimeError):
    """The device or its driver failed, not the kernel: one sentence. Replace the process.

    code: the vendor's name of the error.
    """

    def __init__(self, sentence: str, *, code: str = "") -> None:
        super().__init__(sentence)
        self.code = code
