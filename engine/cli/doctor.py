"""What this machine has for campaigns, what it lacks, and what to do about it."""

import os
import platform
import shutil
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from engine.cli.examined import Finding, State
from evaluators.acceptance.versions import Level, version_findings
from evaluators.device import backend
from evaluators.device_info import BackendMissing
from evaluators.hip.telemetry import AMDSMI_TODO, broken_amdsmi
from evaluators.profile.profiler import TOOLS
from evaluators.profile.run import find_tool
from evaluators.sandbox import landlock

OLDEST_PYTHON = (3, 11)
FREE_BYTES = 2 << 30
"""A long campaign's store, Ray's session and MLflow's files together stay well below this."""
NETWORK_FILE_SYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "9p", "lustre", "ceph", "beegfs"})


def examine(runs_dir: Path = Path("runs")) -> list[Finding]:
    """Look at everything; slow only where a GPU's driver is (it is opened)."""
    return [
        _python(),
        _cpu(),
        _compile_children(),
        *(_gpu(maker) for maker in MAKERS),
        _rocm_compiler(),
        *_versions(),
        *_amdsmi(),
        _package("ray", "runs campaigns", needed=True),
        _package("mlflow", "records them; without it set tracking=none", needed=False),
        _ray_session(os.environ),
        _disk(runs_dir),
    ]


def _python() -> Finding:
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < OLDEST_PYTHON:
        todo = "install Python 3.11 or newer, and make .venv with it (PYTHON=... make setup)"
        return Finding(what="Python", state="broken", found=found, todo=todo)
    return Finding(what="Python", state="ok", found=found)


def _cpu() -> Finding:
    """The cpu backend: a compiler, and cores to measure on."""
    cores = len(os.sched_getaffinity(0))
    try:
        backend("cpu").compiler()
    except BackendMissing as missing:
        return Finding(what="cpu backend", state="broken", found="missing", todo=str(missing))
    from evaluators.cpu.toolchain import toolchain

    todo = "" if cores > 1 else "with two or more cores compiling would not disturb measuring"
    found = f"{cores} cores, {toolchain().name}"
    return Finding(what="cpu backend", state="ok", found=found, todo=todo)


def _compile_children() -> Finding:
    """What a kernel's compiler could read of this machine."""
    version = landlock.version()
    if version:
        found = f"they see the toolchain's files only (Landlock {version})"
        return Finding(what="compile children", state="ok", found=found)
    return Finding(
        what="compile children",
        state="absent",
        found="this kernel has no Landlock, or does not let this process use it",
        todo="compilers can read what this user can read: run campaigns as a user who owns no "
        "secrets, or on Linux 5.13 or newer with Landlock",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """How a maker's GPUs show themselves. bindings: of the backend, by their package's name."""

    name: str
    backend: Literal["hip", "cuda"]
    device_files: tuple[str, ...]
    bindings: str
    install: str


MAKERS = (
    Maker(
        name="AMD GPU",
        backend="hip",
        device_files=("/dev/kfd",),
        bindings="hip-python",
        install="run make setup, which brings AMD's bindings on Linux x86-64",
    ),
    Maker(
        name="NVIDIA GPU",
        backend="cuda",
        device_files=("/dev/nvidia0", "/dev/nvidiactl"),
        bindings="cuda-bindings",
        install="run make setup, which brings NVIDIA's bindings and NVRTC",
    ),
)


def _gpu(maker: Maker) -> Finding:
    """Its driver's device files, its bindings, and whether a device opens."""
    version = _version(maker.bindings)
    bindings = f"{maker.bindings} {version}" if version else f"no {maker.bindings}"
    if not any(Path(file).exists() for file in maker.device_files):
        found = f"none: no {maker.device_files[0]} ({bindings})"
        return Finding(what=maker.name, state="absent", found=found)
    if not version:
        found = f"{maker.device_files[0]} is there, but {bindings}"
        return Finding(what=maker.name, state="absent", found=found, todo=maker.install)
    try:
        module = backend(maker.backend)
        count = module.device_count()
        device = module.open_device(0)
    except BackendMissing as missing:
        found = f"not usable ({bindings})"
        return Finding(what=maker.name, state="absent", found=found, todo=str(missing))
    info = device.info
    device.close()
    found = f"{count} × {info.name} ({info.arch}), {info.compiler}, {bindings}"
    profiler = TOOLS[maker.backend]
    todo = "" if find_tool(profiler) else f"with {profiler} campaigns would profile their new bests"
    return Finding(what=maker.name, state="ok", found=found, todo=todo)


def _rocm_compiler() -> Finding:
    """Kernels can be compiled for AMD GPUs on a machine that has none."""
    from evaluators.hip.rocm import FOR_INSPECTION, WHAT_TO_DO, ClangToolchain, find_toolchain

    try:
        tools = find_toolchain()
    except BackendMissing as missing:
        return Finding(what="ROCm's compiler", state="absent", found="none", todo=str(missing))
    if isinstance(tools, ClangToolchain):
        found = f"{tools.compiler} at {tools.bin}: {FOR_INSPECTION}"
        return Finding(what="ROCm's compiler", state="absent", found=found, todo=WHAT_TO_DO)
    return Finding(what="ROCm's compiler", state="ok", found=f"{tools.compiler} at {tools.hiprtc}")


def _versions() -> list[Finding]:
    """Of drivers, libraries and bindings against each other."""
    states: Mapping[Level, State] = {"ok": "ok", "warning": "absent", "error": "absent"}
    return [
        Finding(what="versions", state=states[one.level], found=one.sentence)
        for one in version_findings()
    ]


def _amdsmi() -> Iterator[Finding]:
    """Only when it is in the way: Ray imports it, and fails with it."""
    if why := broken_amdsmi():
        found = f"it can't be imported ({why}), and Ray can't beside it"
        yield Finding(what="amdsmi", state="broken", found=found, todo=AMDSMI_TODO)


def _package(name: str, purpose: str, *, needed: bool) -> Finding:
    version = _version(name)
    if version:
        return Finding(what=name, state="ok", found=version)
    return Finding(
        what=name,
        state="broken" if needed else "absent",
        found="not installed",
        todo=f"run make setup; it {purpose}",
    )


def _version(package: str) -> str:
    """Empty when it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _ray_session(
    environment: Mapping[str, str], reachable: Callable[[str], bool] | None = None
) -> Finding:
    """Which Ray a campaign would join. reachable: of "host:port"."""
    address = environment.get("RAY_ADDRESS", "")
    if not address:
        found = "none named: a campaign starts one of its own"
        return Finding(what="Ray session", state="ok", found=found)
    place = urlsplit(address if "://" in address else f"//{address}").netloc
    if not (reachable or _reachable)(place):
        return Finding(
            what="Ray session",
            state="broken",
            found=f"RAY_ADDRESS is {address}, where nothing answers",
            todo="start that Ray, or unset RAY_ADDRESS so that campaigns start their own",
        )
    token = environment.get("RAY_AUTH_TOKEN") or environment.get("RAY_AUTH_TOKEN_PATH")
    if environment.get("RAY_AUTH_MODE") == "token" and not token:
        return Finding(
            what="Ray session",
            state="broken",
            found=f"{address} asks for a token (RAY_AUTH_MODE), and none is set",
            todo="set RAY_AUTH_TOKEN to the head's token",
        )
    return Finding(what="Ray session", state="ok", found=f"{address} answers")


def _reachable(place: str) -> bool:
    host, _, port = place.rpartition(":")
    if not port.isdecimal():
        return place in ("auto", "local")
    try:
        socket.create_connection((host.strip("[]") or "127.0.0.1", int(port)), timeout=3).close()
    except OSError:
        return False
    return True


def _disk(runs_dir: Path) -> Finding:
    """Where campaigns go: writable, roomy, and not on a network file system."""
    place = runs_dir.resolve()
    while not place.exists():
        place = place.parent
    kind = _file_system(place, Path("/proc/mounts").read_text())
    free = shutil.disk_usage(place).free
    found = f"{free / 2**30:.0f} GiB free for {runs_dir}/ ({kind})"
    if not os.access(place, os.W_OK):
        todo = f"{place} can't be written to; set runs_dir to a folder that can"
        return Finding(what="disk", state="broken", found=found, todo=todo)
    if free < FREE_BYTES:
        todo = "free some space, or set runs_dir to a larger disk"
        return Finding(what="disk", state="broken", found=found, todo=todo)
    if kind in NETWORK_FILE_SYSTEMS:
        todo = "set runs_dir to a local disk: SQLite's log is not safe on a network file system"
        return Finding(what="disk", state="absent", found=found, todo=todo)
    return Finding(what="disk", state="ok", found=found)


def _file_system(place: Path, mounts: str) -> str:
    """The type of file system that a folder is on. mounts: as in /proc/mounts."""
    best, kind = -1, "unknown"
    for row in mounts.splitlines():
        _, point, name, *_ = row.split()
        folder = Path(point.encode().decode("unicode_escape"))
        if place.is_relative_to(folder) and len(folder.parts) >= best:
            best, kind = len(folder.parts), name
    return kind
