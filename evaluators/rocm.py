"""Finds the ROCm user space of this machine: an installed one, or the one fetched for it."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluators.device import BackendMissing

PACKAGES = Path(__file__).resolve().parents[1]
FETCHED = PACKAGES / ".rocm"
"""Where scripts/rocm_toolchain.sh puts its compiler unless KERNEL_SCIENTIST_ROCM says otherwise."""
FOR_INSPECTION = "compiles for inspection, not what hiprtc would generate on the target"
WHAT_TO_DO = "run scripts/rocm_toolchain.sh, or install ROCm and set ROCM_PATH to it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """Where a ROCm user space lies. loader: its own dynamic loader, where it brings a libc.

    version: of ROCm, such as "7.2.4"; "" when it doesn't say.
    """

    hiprtc: Path
    comgr: Path | None
    include: Path
    libraries: Path
    version: str
    loader: Path | None = None

    @property
    def compiler(self) -> str:
        """Such as "hiprtc 7.2.4"."""
        return f"hiprtc {self.version}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClangToolchain:
    """Where no ROCm is to be had: clang, lld and llvm-objdump in bin, for inspection only.

    version: of clang, such as "19.1.7".
    """

    bin: Path
    version: str

    @property
    def compiler(self) -> str:
        """Such as "clang 19.1.7"."""
        return f"clang {self.version}"


def find_toolchain(
    environment: Mapping[str, str] = os.environ,
) -> Toolchain | ClangToolchain:
    """KERNEL_SCIENTIST_ROCM, else ROCM_PATH, ROCM_HOME, /opt/rocm, else the fetched one.

    Its type tells whether that is hiprtc or the last rung, clang. Raises BackendMissing.
    """
    chosen = environment.get("KERNEL_SCIENTIST_ROCM")
    if chosen:
        if not (Path(chosen) / "toolchain.json").is_file():
            raise BackendMissing(
                f"KERNEL_SCIENTIST_ROCM is {chosen}, which holds no toolchain.json: {WHAT_TO_DO}"
            )
        return _fetched(Path(chosen))
    for name in ("ROCM_PATH", "ROCM_HOME"):
        if environment.get(name):
            return _installed(Path(environment[name]), f"{name} is {environment[name]}")
    if Path("/opt/rocm/lib/libhiprtc.so").exists():
        return _installed(Path("/opt/rocm"), "/opt/rocm is there")
    if not (FETCHED / "toolchain.json").is_file():
        raise BackendMissing(f"no ROCm on this machine to compile for AMD GPUs: {WHAT_TO_DO}")
    return _fetched(FETCHED)


def _installed(root: Path, why: str) -> Toolchain:
    hiprtc = root / "lib" / "libhiprtc.so"
    if not hiprtc.exists():
        raise BackendMissing(f"{why}, but {hiprtc} is missing: {WHAT_TO_DO}")
    comgr = root / "lib" / "libamd_comgr.so"
    return Toolchain(
        hiprtc=hiprtc,
        comgr=comgr if comgr.exists() else None,
        include=root / "include",
        libraries=root / "lib",
        version=_release(root),
    )


def _release(root: Path) -> str:
    """Such as "7.2.0-43": ROCm's packages leave it in .info/version; "" when they didn't."""
    stamp = root / ".info" / "version"
    return stamp.read_text().strip() if stamp.is_file() else ""


def _fetched(root: Path) -> Toolchain | ClangToolchain:
    stamp = json.loads((root / "toolchain.json").read_text())
    if stamp["rung"] == "clang":
        version = stamp["versions"]["clang"].split("-")[0]
        return ClangToolchain(bin=root / stamp["bin"], version=version)
    libraries = root / stamp["libraries"]
    return Toolchain(
        hiprtc=libraries / stamp["hiprtc"],
        comgr=libraries / "libamd_comgr.so",
        include=root / stamp["include"],
        libraries=libraries,
        version=stamp["versions"]["hiprtc"].split("-")[0],
        loader=root / stamp["loader"],
    )
