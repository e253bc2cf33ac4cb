"""Versions of drivers, libraries and bindings: what is here, what doesn't fit, what to install."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from evaluators.cuda.runtime import Runtime as CudaRuntime
from evaluators.device_info import BackendMissing, DeviceFault
from evaluators.evaluation import Rejected
from evaluators.hip.rocm import Toolchain, find_toolchain
from evaluators.hip.runtime import OLDEST_ROCM, Runtime

Level = Literal["ok", "warning", "error"]

PACKAGE = "kernel-scientist"
WATCHED = ("ray", "mlflow", "hip-python", "cuda-bindings", "nvidia-cuda-nvrtc", "numpy")
"""Packages whose versions must be within this package's own bounds."""
DRIVER_OF_CUDA: Mapping[int, int] = {12: 525, 13: 580}
"""The oldest NVIDIA driver that runs code of that CUDA (CUDA Toolkit Release Notes, table 3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """error: a backend can't work. warning: nobody tested it. sentence: what, and what to do."""

    level: Level
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """Empty strings for what is not here. requirements: this package's own, as pip writes them."""

    amdgpu_driver: str = ""
    hip_runtime: str = ""
    hip_python: str = ""
    hiprtc: str = ""
    nvidia_driver: str = ""
    driver_cuda: str = ""  # the newest CUDA that the driver knows
    cuda_bindings: str = ""
    nvrtc: str = ""
    cuda_headers: str = ""
    packages: tuple[tuple[str, str], ...] = ()
    requirements: tuple[str, ...] = ()

    def shown(self) -> dict[str, str]:
        """By name, for a report: only what is here."""
        own = {
            name.replace("_", " "): value
            for name, value in asdict(self).items()
            if isinstance(value, str) and value
        }
        others = {name: found for name, found in self.packages if found not in own.values()}
        return own | {name: found for name, found in others.items() if found}


def version_findings() -> list[Finding]:
    """What is found on this machine, each in a sentence; a driver is asked, no device is opened."""
    return judged(found_versions())


def judged(versions: Versions) -> list[Finding]:
    """Versions against each other."""
    findings = [*_amd(versions), *_nvidia(versions), *_packages(versions)]
    return findings or [Finding(level="ok", sentence="all versions fit each other")]


def _amd(v: Versions) -> Iterator[Finding]:
    runtime, binding, compiler = map(_major, (v.hip_runtime, v.hip_python, v.hiprtc))
    if v.amdgpu_driver and not v.hip_runtime:
        yield _error(
            f"the amdgpu driver {v.amdgpu_driver} is loaded, but no HIP runtime can be used: "
            "install ROCm 7.2, or set ROCM_PATH to where it lies"
        )
    if v.amdgpu_driver and not v.hip_python:
        yield _error(
            "hip-python is not installed, which the hip backend needs: run make setup on Linux "
            "x86-64"
        )
    if runtime and runtime < OLDEST_ROCM:
        yield _error(
            f"the HIP runtime is {v.hip_runtime}; ROCm {OLDEST_ROCM} is the oldest that "
            "hip-python works with: install ROCm 7.2"
        )
    elif runtime and binding and runtime != binding:
        yield _warning(
            f"hip-python {v.hip_python} is made for ROCm {binding}, the HIP runtime here is "
            f"{v.hip_runtime}: install hip-python of {runtime}.*, or ROCm {binding}"
        )
    if runtime and compiler and runtime != compiler:
        yield _warning(
            f"kernels are compiled by hiprtc {v.hiprtc}, and run by HIP {v.hip_runtime}: unset "
            "KERNEL_SCIENTIST_ROCM, or set ROCM_PATH to the ROCm whose runtime is used"
        )


def _nvidia(v: Versions) -> Iterator[Finding]:
    driver, binding, compiler = map(_major, (v.driver_cuda, v.cuda_bindings, v.nvrtc))
    if v.nvidia_driver and not (v.cuda_bindings and v.nvrtc):
        missing = "nvidia-cuda-nvrtc" if v.cuda_bindings else "cuda-bindings"
        yield _error(
            f"{missing} is not installed, which the cuda backend needs: install this package "
            "with its extra [cuda]"
        )
    if compiler and binding and compiler != binding:
        yield _error(
            f"cuda-bindings {v.cuda_bindings} can't load NVRTC {v.nvrtc}: install "
            f"nvidia-cuda-nvrtc {binding}.*"
        )
    if driver and compiler and compiler > driver:
        oldest = DRIVER_OF_CUDA.get(compiler)
        newer = f"driver {oldest} or newer" if oldest else "a newer driver"
        yield _error(
            f"NVRTC {v.nvrtc} compiles for CUDA {compiler}, the driver {v.nvidia_driver} knows "
            f"CUDA {v.driver_cuda}: install {newer}, or cuda-bindings and nvidia-cuda-nvrtc "
            f"{driver}.*"
        )
    if compiler and v.cuda_headers and _major(v.cuda_headers) != compiler:
        yield _error(
            f"CUDA's headers (nvidia-cuda-runtime) are {v.cuda_headers}, NVRTC is {v.nvrtc}: "
            f"install nvidia-cuda-runtime {compiler}.*"
        )


def _packages(v: Versions) -> Iterator[Finding]:
    """What is installed against this package's own bounds."""
    installed = {canonicalize_name(name): version for name, version in v.packages if version}
    for requirement in map(Requirement, v.requirements):
        version = installed.get(canonicalize_name(requirement.name))
        if version and not requirement.specifier.contains(version, prereleases=True):
            yield _warning(
                f"{requirement.name} {version} is not {requirement.specifier}, which is tested: "
                "run make setup"
            )


def found_versions() -> Versions:
    """Of this machine. Asks the HIP and CUDA drivers, where there are any."""
    return Versions(
        amdgpu_driver=_amdgpu_driver(),
        hip_runtime=_hip_runtime(),
        hip_python=_installed("hip-python"),
        hiprtc=_hiprtc(),
        nvidia_driver=_nvidia_driver(),
        driver_cuda=_driver_cuda(),
        cuda_bindings=_installed("cuda-bindings"),
        nvrtc=_installed("nvidia-cuda-nvrtc"),
        cuda_headers=_installed("nvidia-cuda-runtime"),
        packages=tuple((name, _installed(name)) for name in WATCHED),
        requirements=tuple(metadata.requires(PACKAGE) or ()) if _installed(PACKAGE) else (),
    )


def _amdgpu_driver() -> str:
    """The module's own version; "of the kernel" for the one that Linux brings."""
    module = Path("/sys/module/amdgpu")
    version = module / "version"
    if version.exists():
        return version.read_text().strip()
    return "of the kernel" if module.exists() and Path("/dev/kfd").exists() else ""


def _hip_runtime() -> str:
    try:
        return Runtime().version()
    except (BackendMissing, DeviceFault, Rejected):
        return ""


def _hiprtc() -> str:
    try:
        found = find_toolchain()
    except BackendMissing:
        return ""
    return found.version if isinstance(found, Toolchain) else ""


def _nvidia_driver() -> str:
    file = Path("/proc/driver/nvidia/version")
    found = re.search(r"(\d+\.\d+(?:\.\d+)?)\s", file.read_text()) if file.exists() else None
    return found[1] if found else ""


def _driver_cuda() -> str:
    """The driver packs it as major * 1000 + minor * 10."""
    try:
        packed = int(CudaRuntime().call("cuDriverGetVersion"))
    except (BackendMissing, DeviceFault, Rejected):
        return ""
    return f"{packed // 1000}.{packed % 1000 // 10}"


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _major(version: str) -> int:
    """0 where no number begins: a driver's version need not be one of Python's."""
    found = re.match(r"\d+", version)
    return int(found[0]) if found else 0


def _error(sentence: str) -> Finding:
    return Finding(level="error", sentence=sentence)


def _warning(sentence: str) -> Finding:
    return Finding(level="warning", sentence=sentence)
