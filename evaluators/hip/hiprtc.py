"""Compiles HIP source for AMD GPUs with hiprtc in a recycled child; needs no GPU."""

import re
import sys
import sysconfig
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from evaluators.device_info import BackendMissing
from evaluators.evaluation import Rejected, Status
from evaluators.gpu.compile_child import CompileChild
from evaluators.hip.rocm import WHAT_TO_DO, ClangToolchain, Toolchain, find_toolchain
from evaluators.kernel.porting.header_assertions import asserted

# HIP's old names of the built-in variables, which hiprtc lacks.
_OLD_NAMES = tuple(
    f"-Dhip{name[0].upper()}{name[1:]}_{axis}={name}.{axis}"
    for name in ("threadIdx", "blockIdx", "blockDim", "gridDim")
    for axis in "xyz"
)
INCLUDE = Path(__file__).parents[1] / "include"
_LDS_ERROR = re.compile(r"local memory \((\d+)\) exceeds limit \((\d+)\) in '(.*)'")
_NAME_EXPRESSION = re.compile(r'__amdgcn_name_expr_\d+\[\]= \{"([^"]*)"')


class HiprtcChild(CompileChild):
    """hiprtc of a ROCm user space. memory_bytes: address space a child may use."""

    compiler = "hiprtc"
    module = "evaluators.hip.hiprtc_child"
    what_to_do = WHAT_TO_DO

    def __init__(
        self,
        toolchain: Toolchain | None = None,
        *,
        recycle_after: int = 200,
        memory_bytes: int = 16 << 30,
    ) -> None:
        found = toolchain or find_toolchain()
        if isinstance(found, ClangToolchain):
            raise BackendMissing(
                f"no hiprtc on this machine, only {found.compiler}, which compiles for inspection: "
                f"{WHAT_TO_DO}"
            )
        self.toolchain = found
        self._memory_bytes = memory_bytes
        self._known: set[str] = set()
        super().__init__(recycle_after=recycle_after)

    @property
    def version(self) -> str:
        return f"hiprtc {self.toolchain.version or self.api_version}"

    def flags(self, arch: str, options: Sequence[str]) -> list[str]:
        folders = (
            f"-I{folder}" for folder in (INCLUDE / "hiprtc", INCLUDE, self.toolchain.include)
        )
        return [f"--offload-arch={arch}", *folders, *_OLD_NAMES, *options]

    def headers(self) -> list[Path]:
        return [INCLUDE / "hiprtc", INCLUDE, self.toolchain.include]

    def reads(self) -> list[Path]:
        return [INCLUDE, self.toolchain.include, self.toolchain.libraries]

    def admit(self, arch: str, deadline_s: float) -> None:
        self.require(arch, "", deadline_s)

    def require(self, arch: str, log: str, deadline_s: float) -> None:
        """Asked once an arch: for an unknown one ROCm 7 fails without a log, and 6.4 aborts."""
        if arch in self._known:
            return
        least = {"source": "__global__ void least() {}", "name": "least.hip", "names": []}
        options = [f"--offload-arch={arch}"]
        try:
            reply = self.ask(least | {"options": options}, deadline_s)
            known = "code" in reply
        except Rejected:
            known = False
        if not known:
            raise BackendMissing(
                f"hiprtc {self.toolchain.version} does not know the architecture {arch!r}: "
                "MI300A, MI300X and MI325X are gfx942, MI200 is gfx90a"
            )
        self._known.add(arch)

    def disassemble(self, code: bytes, deadline_s: float = 60.0) -> list[tuple[int, int, str]]:
        """Address, bytes and text of each instruction. Raises Rejected and BackendMissing."""
        with self._lock:
            reply = self.ask({"disassemble": code}, deadline_s)
        return [(address, nbytes, text) for address, nbytes, text in reply["instructions"]]

    def arguments(self) -> list[str]:
        tools = self.toolchain
        return [str(tools.hiprtc), str(tools.comgr or ""), str(self._memory_bytes)]

    def python(self) -> list[str]:
        tools = self.toolchain
        if tools.loader is None:
            return [sys.executable]
        # The fetched libraries need a newer libc than the machine may have: the child runs
        # under their own loader. argv[0] is how Python finds its virtual environment.
        places = (str(tools.libraries), sysconfig.get_config_var("LIBDIR"), "/lib/x86_64-linux-gnu")
        loader = [str(tools.loader), "--argv0", sys.executable, "--library-path"]
        return [*loader, ":".join(places), str(Path(sys.executable).resolve())]

    def environment(self) -> dict[str, str]:
        return {"AMD_COMGR_CACHE": "0"}

    def reason(self, log: str, status: str) -> str:
        errors = [line.strip() for line in log.splitlines() if "error:" in line]
        return errors[0] if errors else f"hiprtc says {status} and nothing more"

    def rejection(self, log: str, status: str, file: str) -> Rejected:
        if refused := asserted(log):
            return refused
        for line, shown in pairwise([*log.splitlines(), ""]):
            if "error:" not in line:
                continue
            where, said = line.split("error:", 1)
            if too_much := _LDS_ERROR.search(said):
                needed, limit, kernel = too_much.groups()
                reason = f"{kernel}: {needed} bytes of static LDS, at most {limit} are allowed"
                return Rejected(Status.LAUNCH_ERROR, reason, log=log)
            # hiprtc appends a line of its own to the source for every name expression.
            if unknown := _NAME_EXPRESSION.search(shown):
                reason = f"the code has no kernel that {unknown[1]!r} names: {said.strip()}"
                return Rejected(Status.COMPILE_ERROR, reason, log=log)
            if at := re.fullmatch(rf"{re.escape(file)}:(\d+):\d+: (?:fatal )?", where):
                return Rejected(Status.COMPILE_ERROR, said.strip(), log=log, line=int(at[1]))
            break
        return super().rejection(log, status, file)
