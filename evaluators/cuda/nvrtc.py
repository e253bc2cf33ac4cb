"""Compiles HIP source for NVIDIA GPUs with NVRTC in a recycled child; needs no GPU."""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from evaluators.device_info import BackendMissing
from evaluators.evaluation import Rejected, Status
from evaluators.gpu.compile_child import CompileChild
from evaluators.gpu.demangle import demangled
from evaluators.kernel.porting.header_assertions import asserted

INCLUDE = Path(__file__).parents[1] / "include"
WHAT_TO_DO = "install this package with its extra [cuda]"
# What the kernel's flags are called here; those that NVRTC has no word for are left out.
_OPTIONS = {
    "-ffast-math": "--use_fast_math",
    "-ffp-contract=off": "--fmad=false",
    "-ffp-contract=on": "--fmad=true",
    "-ffp-contract=fast": "--fmad=true",
    "-fgpu-flush-denormals-to-zero": "--ftz=true",
}
_LDS_ERROR = re.compile(
    r"Entry function '(\w+)' uses too much shared data \((0x[0-9a-f]+) bytes, (0x[0-9a-f]+) max"
)


class NvrtcChild(CompileChild):
    """NVRTC of the packages installed here, or of a CUDA toolkit."""

    compiler = "nvrtc"
    module = "evaluators.cuda.nvrtc_child"
    what_to_do = WHAT_TO_DO

    def __init__(self, *, recycle_after: int = 500, memory_bytes: int = 16 << 30) -> None:
        self._memory_bytes = memory_bytes
        self._headers = cuda_headers()
        super().__init__(recycle_after=recycle_after)

    @property
    def version(self) -> str:
        return f"nvrtc {self.api_version}"

    def flags(self, arch: str, options: Sequence[str]) -> list[str]:
        spoken = (o if o.startswith(("-D", "-std")) else _OPTIONS.get(o, "") for o in options)
        return [
            f"--gpu-architecture={arch}",
            *(f"-I{folder}" for folder in self.headers()),
            "-default-device",
            "--diag-suppress=177,550,1444,1675",  # unused, deprecated vectors, pragmas
            *filter(None, spoken),
        ]

    def headers(self) -> list[Path]:
        return [INCLUDE / "cuda", INCLUDE, self._headers]

    def require(self, arch: str, log: str, deadline_s: float) -> None:
        if "--gpu-architecture" in log:
            raise BackendMissing(
                f"nvrtc does not know the architecture {arch!r}: H100 and H200 are sm_90"
            )

    def arguments(self) -> list[str]:
        return [str(self._memory_bytes)]

    def environment(self) -> dict[str, str]:
        """Where a CUDA toolkit lies, and the packages this process finds beside the library."""
        kept = {k: os.environ[k] for k in ("CUDA_HOME", "CUDA_PATH") if k in os.environ}
        root = str(Path(__file__).resolve().parents[2])
        return kept | {"PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)])}

    def reason(self, log: str, status: str) -> str:
        errors = [line.strip() for line in log.splitlines() if re.search(r"\berror\b", line)]
        return errors[0] if errors else f"nvrtc says {status} and nothing more"

    def rejection(self, log: str, status: str, file: str) -> Rejected:
        if too_much := _LDS_ERROR.search(log):
            kernel, needed, limit = too_much.groups()
            reason = (
                f"{demangled(kernel).partition('(')[0].removeprefix('void ') or kernel}: "
                f"{int(needed, 16)} bytes of static LDS, at most {int(limit, 16)} are allowed"
            )
            return Rejected(Status.LAUNCH_ERROR, reason, log=log)
        if refused := asserted(log):
            return refused
        first = self.reason(log, status)
        if at := re.match(rf"{re.escape(file)}\((\d+)\): (?:catastrophic )?error: ", first):
            said = first[at.end() :]
            return Rejected(Status.COMPILE_ERROR, said, log=log, line=int(at[1]))
        return super().rejection(log, status, file)


def cuda_headers() -> Path:
    """Where cuda_fp16.h lies: in NVIDIA's packages or a CUDA toolkit. Raises BackendMissing."""
    try:
        from cuda import pathfinder
    except ImportError:
        raise BackendMissing(f"no NVRTC to compile for NVIDIA GPUs: {WHAT_TO_DO}") from None
    found = pathfinder.find_nvidia_header_directory("cudart")
    if found is None:
        raise BackendMissing(f"CUDA's headers (cuda_fp16.h) are missing: {WHAT_TO_DO}")
    return Path(found)
