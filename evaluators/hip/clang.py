"""Compiles HIP source for AMD GPUs with plain clang and our own headers: for inspection only."""

import re
from collections.abc import Sequence
from pathlib import Path

from evaluators.device_info import BackendMissing
from evaluators.evaluation import Rejected, Status
from evaluators.gpu.compile_child import CompileChild
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.hip.rocm import WHAT_TO_DO, ClangToolchain, find_toolchain
from evaluators.kernel.porting.header_assertions import asserted

INCLUDE = Path(__file__).parents[1] / "include"
_FLAGS = (
    *("-no-canonical-prefixes", "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output"),
    *("-nogpulib", "-nogpuinc", "-nostdinc", "-O3", "-mcode-object-version=5", "-fuse-cuid=none"),
    *("-fno-crash-diagnostics", "-Wno-c++26-extensions"),
    # As in hiprtc's LLVM: LDS is what the source declares, a private array is scratch.
    *("-mllvm", "-disable-promote-alloca-to-lds"),
)
_LDS_ERROR = re.compile(
    r"local memory \((\d+)\) exceeds limit \((\d+)\) in (?:function )?'(.*)'", re.MULTILINE
)
_ERROR = re.compile(r"^(?P<file>.*?)(?::(?P<line>\d+):\d+)?: (?:fatal )?error: (?P<said>.*)$", re.M)
_NAME = re.compile(r"name expression (.*)")
_MISSING = "this needs AMD's device libraries"  # of include/amdgcn/ks/functions.h


class ClangChild(CompileChild):
    """clang, lld and llvm-objdump of Debian's packages, each compilation a process of its own.

    What it makes tells registers, LDS, scratch and instructions to be expected; it isn't what
    hiprtc would generate on the target. memory_bytes: address space that each may use.
    """

    compiler = "clang"
    module = "evaluators.hip.clang_child"
    what_to_do = WHAT_TO_DO
    inspection_only = True

    def __init__(
        self,
        toolchain: ClangToolchain,
        *,
        recycle_after: int = 1000,
        memory_bytes: int = 16 << 30,
    ) -> None:
        self.toolchain = toolchain
        self._memory_bytes = memory_bytes
        super().__init__(recycle_after=recycle_after)

    @property
    def version(self) -> str:
        return f"clang {self.api_version}"

    def flags(self, arch: str, options: Sequence[str]) -> list[str]:
        return [
            *_FLAGS,
            f"--offload-arch={arch}",
            *("-isystem", f"{INCLUDE / 'amdgcn'}", "-isystem", f"{INCLUDE}"),
            *("-include", "hip/hip_runtime.h"),
            *(() if any(o.startswith("-DWAVEFRONT") for o in options) else ["-DWAVEFRONT=64"]),
            *options,
        ]

    def headers(self) -> list[Path]:
        return [INCLUDE / "amdgcn", INCLUDE]

    def reads(self) -> list[Path]:
        return [*self.headers(), self.toolchain.bin.parent]

    def require(self, arch: str, log: str, deadline_s: float) -> None:
        if "invalid target ID" in log or "unsupported HIP gpu architecture" in log:
            raise BackendMissing(
                f"clang {self._api_version} does not know the architecture {arch!r}: "
                "MI300A, MI300X and MI325X are gfx942, MI200 is gfx90a"
            )

    def arguments(self) -> list[str]:
        return [str(self.toolchain.bin), str(self._memory_bytes)]

    def environment(self) -> dict[str, str]:
        return {}

    def reason(self, log: str, status: str) -> str:
        errors = [line.strip() for line in log.splitlines() if "error:" in line]
        return errors[0] if errors else f"clang says {status} and nothing more"

    def rejection(self, log: str, status: str, file: str) -> Rejected:
        if refused := asserted(log):
            return refused
        if too_much := _LDS_ERROR.search(log):
            needed, limit, kernel = too_much.groups()
            reason = f"{kernel}: {needed} bytes of static LDS, at most {limit} are allowed"
            return Rejected(Status.LAUNCH_ERROR, reason, log=log)
        first = _ERROR.search(log)
        if first is None:
            return super().rejection(log, status, file)
        said, line = first["said"].strip(), first["line"]
        if unknown := _NAME.fullmatch(first["file"]):
            reason = f"the code has no kernel that {unknown[1]!r} names: {said}"
            return Rejected(Status.COMPILE_ERROR, reason, log=log)
        verdict = Status.UNSUPPORTED if _MISSING in said else Status.COMPILE_ERROR
        if first["file"] == file and line:
            return Rejected(verdict, said, log=log, line=int(line))
        return Rejected(verdict, self.reason(log, status), log=log)


AmdChild = HiprtcChild | ClangChild


def amd_child() -> AmdChild:
    """What compiles for AMD GPUs on this machine: hiprtc, else clang. Raises BackendMissing."""
    found = find_toolchain()
    return ClangChild(found) if isinstance(found, ClangToolchain) else HiprtcChild(found)


def amd_compiler() -> str:
    """Such as "hiprtc 7.2.4", without starting it; "hiprtc" where there is none."""
    try:
        return find_toolchain().compiler
    except BackendMissing:
        return "hiprtc"
