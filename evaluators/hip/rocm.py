"""Finds the ROCm user space of this machine: an installed one, or the one fetched for it."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from evaluators.device_info import BackendMissing

PACKAGES = Path(__file__).resolve().parents[2]
FETCHED = PACKAGES / ".rocm"
"""Where scripts/rocm_toolchain.sh puts its compiler unless KERNEL_SCIENTIST_ROCM says otherwise."""
WHEEL = "_rocm_sdk_core"
"""The import name of the wheel rocm-sdk-core, which holds AMD's runtime and compiler."""
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
    """KERNEL_SCIENTIST_ROCM, else ROCM_PATH, ROCM_HOME, /opt/rocm, ROCm's wheels, the fetched one.

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
    for root in rocm_roots({}):
        if library(root, "libhiprtc"):
            return _installed(root, f"{root} is there")
    if not (FETCHED / "toolchain.json").is_file():
        raise BackendMissing(f"no ROCm on this machine to compile for AMD GPUs: {WHAT_TO_DO}")
    return _fetched(FETCHED)


def rocm_roots(environment: Mapping[str, str] = os.environ) -> Iterator[Path]:
    """Where a ROCm may be installed: ROCM_PATH, ROCM_HOME, /opt/rocm, then ROCm's Python wheels."""
    for name in ("ROCM_PATH", "ROCM_HOME"):
        if environment.get(name):
            yield Path(environment[name])
    yield Path("/opt/rocm")
    yield from _wheel(WHEEL)


def library(root: Path, name: str) -> Path | None:
    """root/lib/NAME.so, or of those with a version the newest: wheels have no other."""
    plain = root / "lib" / f"{name}.so"
    if plain.exists():
        return plain
    versions = {
        tuple(map(int, found[1].split("."))): file
        for file in (root / "lib").glob(f"{name}.so.*")
        if (found := re.search(r"\.so\.([\d.]*\d)$", file.name))
    }
    return versions[max(versions)] if versions else None


def _wheel(package: str) -> Iterator[Path]:
    """Where the wheel rocm-sdk-core (or -devel) lies in this environment, which no loader knows."""
    found = find_spec(package)
    yield from map(Path, found.submodule_search_locations or ()) if found else ()


def _installed(root: Path, why: str) -> Toolchain:
    hiprtc = library(root, "libhiprtc")
    if hiprtc is None:
        raise BackendMissing(f"{why}, but {root}/lib/libhiprtc.so is missing: {WHAT_TO_DO}")
    includes = (root / "include", *(there / "include" for there in _wheel("_rocm_sdk_devel")))
    return Toolchain(
        hiprtc=hiprtc,
        comgr=library(root, "libamd_comgr"),
        include=next((place for place in includes if place.is_dir()), root / "include"),
        libraries=root / "lib",
        version=_release(root),
    )


def _release(root: Path) -> str:
    """Such as "7.2.0-43": ROCm's packages leave it in .info/version; "" when they didn't."""
    stamp = root / ".info" / "version"
    if stamp.is_file():
        return stamp.read_text().strip()
    wheels = metadata.distributions(name="rocm-sdk-core") if root in _wheel(WHEEL) else ()
    return next((one.version for one in wheels), "")


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
