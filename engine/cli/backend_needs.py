"""What each backend needs of a machine: what for, whether it is here, and what installs it."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes.util import find_library
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from evaluators.device_info import BackendMissing
from evaluators.profile.run import find_tool

SETUP = "make setup"
ROCM_REPOSITORY = "from AMD's package repository"
NVIDIA_REPOSITORY = "from NVIDIA's package repository"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One thing that a backend uses. purpose: what it can't do without it. command: installs it."""

    backend: str
    what: str
    purpose: str
    command: str
    is_here: Callable[[], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """A need that this machine does not meet."""

    backend: str
    what: str
    purpose: str
    command: str


def _package(name: str) -> Callable[[], bool]:
    def is_here() -> bool:
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            return False
        return True

    return is_here


def _tool(name: str) -> Callable[[], bool]:
    return lambda: find_tool(name) is not None


def _device_file(path: str) -> Callable[[], bool]:
    return lambda: Path(path).exists()


def _open_to_us(path: str) -> Callable[[], bool]:
    """Whether this user may open a device file; one that is not there is another lack."""
    return lambda: not Path(path).exists() or os.access(path, os.R_OK | os.W_OK)


def _host_compiler() -> bool:
    from evaluators.cpu.toolchain import toolchain

    try:
        toolchain()
    except BackendMissing:
        return False
    return True


def _hiprtc() -> bool:
    """Real hiprtc: clang alone compiles for inspection only."""
    from evaluators.hip.rocm import Toolchain, find_toolchain

    try:
        return isinstance(find_toolchain(), Toolchain)
    except BackendMissing:
        return False


def _hip_runtime() -> bool:
    roots = [os.environ.get(name) for name in ("ROCM_PATH", "ROCM_HOME")]
    folders = [Path(root) / "lib" for root in (*roots, "/opt/rocm") if root]
    return any(any(folder.glob("libamdhip64.so*")) for folder in folders) or bool(
        find_library("amdhip64")
    )


NEEDS: Sequence[Need] = (
    Need(
        backend="cpu",
        what="a C++ compiler",
        purpose="compiles kernels for the host",
        command="sudo apt install g++ (or, without root: .venv/bin/python -m pip install ziglang)",
        is_here=_host_compiler,
    ),
    Need(
        backend="cuda",
        what="NVIDIA's driver",
        purpose="runs kernels",
        command="sudo ubuntu-drivers install (Debian: sudo apt install nvidia-driver)",
        is_here=_device_file("/dev/nvidiactl"),
    ),
    Need(
        backend="cuda",
        what="cuda-bindings",
        purpose="speaks to the driver",
        command=SETUP,
        is_here=_package("cuda-bindings"),
    ),
    Need(
        backend="cuda",
        what="nvidia-cuda-nvrtc",
        purpose="compiles kernels",
        command=SETUP,
        is_here=_package("nvidia-cuda-nvrtc"),
    ),
    Need(
        backend="cuda",
        what="nvidia-cuda-runtime",
        purpose="holds the headers that kernels include",
        command=SETUP,
        is_here=_package("nvidia-cuda-runtime"),
    ),
    Need(
        backend="cuda",
        what="nvidia-ml-py",
        purpose="reads clocks, power and temperature",
        command=SETUP,
        is_here=_package("nvidia-ml-py"),
    ),
    Need(
        backend="cuda",
        what="ncu",
        purpose="profiles new bests",
        command=f"sudo apt install cuda-nsight-compute-13-0, {NVIDIA_REPOSITORY}",
        is_here=_tool("ncu"),
    ),
    Need(
        backend="hip",
        what="AMD's driver",
        purpose="runs kernels (there is no /dev/kfd)",
        command=f"sudo apt install amdgpu-dkms, {ROCM_REPOSITORY}",
        is_here=_device_file("/dev/kfd"),
    ),
    Need(
        backend="hip",
        what="the right to /dev/kfd",
        purpose="lets this user run kernels",
        command="sudo usermod -a -G render,video $USER, then log in anew",
        is_here=_open_to_us("/dev/kfd"),
    ),
    Need(
        backend="hip",
        what="libamdhip64",
        purpose="is the runtime that launches kernels",
        command=f"sudo apt install hip-runtime-amd, {ROCM_REPOSITORY}",
        is_here=_hip_runtime,
    ),
    Need(
        backend="hip",
        what="hiprtc",
        purpose="compiles kernels",
        command="make rocm (no root needed)",
        is_here=_hiprtc,
    ),
    Need(
        backend="hip",
        what="hip-python",
        purpose="speaks to the runtime and to hiprtc",
        command=SETUP,
        is_here=_package("hip-python"),
    ),
    Need(
        backend="hip",
        what="rocprofv3",
        purpose="profiles new bests",
        command=f"sudo apt install rocprofiler-sdk, {ROCM_REPOSITORY}",
        is_here=_tool("rocprofv3"),
    ),
)


def find_lacks(needs: Iterable[Need] = NEEDS) -> list[Lack]:
    """What is not here, backend by backend; nothing is opened or started but a host compiler."""
    return [
        Lack(backend=one.backend, what=one.what, purpose=one.purpose, command=one.command)
        for one in needs
        if not one.is_here()
    ]


def lack_lines(lacks: Iterable[Lack]) -> Iterator[str]:
    """A line each, for a person."""
    named = set()
    for one in lacks:
        if one.backend not in named:
            named.add(one.backend)
            yield ""
            yield f"What the {one.backend} backend lacks here:"
        yield f"  {one.what}: {one.purpose}; install it with: {one.command}"
