"""What tests of several packages share: what compiles for gfx942, and the HIP runtime double."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from evaluators.cuda import device as cuda
from evaluators.device_info import BackendMissing
from evaluators.hip.clang import ClangChild
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.hip.rocm import ClangToolchain, find_toolchain
from tests.hip_double.build import build
from tests.hip_double.twins import FOLDER

ROOT = Path(__file__).parents[1]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what it puts into the background so, and programs under test would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Others' machines are not quiet: how long an example takes says nothing.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def gfx942() -> Iterator[HiprtcChild]:
    """Real hiprtc. Where it is missing: a failure in continuous integration, else a skip."""
    try:
        child = HiprtcChild()
        version = child.version
    except BackendMissing as missing:
        if os.environ.get("CI"):
            pytest.fail(f"nothing can be compiled for gfx942: {missing}")
        pytest.skip(str(missing))
    assert version.startswith("hiprtc ")
    with child:
        yield child


@pytest.fixture(scope="session")
def clang_folder() -> Path:
    """The toolchain script's last rung, in a folder of its own beside the repository's code.

    Where it can't be fetched: a failure in continuous integration, else a skip.
    """
    folder = ROOT / ".rocm-clang"
    chosen = {"KERNEL_SCIENTIST_ROCM": str(folder), "KERNEL_SCIENTIST_ROCM_RUNGS": "clang"}
    done = subprocess.run(
        [ROOT / "scripts" / "rocm_toolchain.sh"],
        env={**os.environ, **chosen},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    if done.returncode != 0:
        if os.environ.get("CI"):
            pytest.fail(f"clang 19 cannot be fetched: {done.stderr}")
        pytest.skip(" ".join(done.stderr.split()))
    return folder


@pytest.fixture(scope="session")
def clang_amdgcn(clang_folder: Path) -> Iterator[ClangChild]:
    """Clang with our own headers, which compiles for gfx942 for inspection."""
    found = find_toolchain({"KERNEL_SCIENTIST_ROCM": str(clang_folder)})
    assert isinstance(found, ClangToolchain)
    with ClangChild(found) as child:
        yield child


@pytest.fixture(scope="session")
def double_rocm(gfx942: HiprtcChild, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as ROCM_PATH would name it, with the HIP runtime double for a runtime."""
    root = tmp_path_factory.mktemp("rocm")
    build(root, gfx942.toolchain.include)
    return root


@pytest.fixture
def double(
    double_rocm: Path,
    gfx942: HiprtcChild,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[pytest.MonkeyPatch]:
    """Children started while this is in use find the double; all processes of a run share twins."""
    if gfx942.toolchain.loader is None:
        pytest.skip("ROCm is installed here: its own runtime is what tests should use")
    base = tmp_path_factory.getbasetemp()
    twins = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "twins"
    twins.mkdir(exist_ok=True)
    monkeypatch.setenv("ROCM_PATH", str(double_rocm))
    monkeypatch.setenv("KERNEL_SCIENTIST_ROCM", str(gfx942.toolchain.loader.parents[4]))
    monkeypatch.setenv(FOLDER, str(twins))
    for vendor in ("CUDA", "HIP", "ROCR"):
        monkeypatch.delenv(f"{vendor}_VISIBLE_DEVICES", raising=False)
    yield monkeypatch


@pytest.fixture
def gpu(request: pytest.FixtureRequest) -> str:
    """hip, on the double; or cuda."""
    name = str(request.param)
    if name == "hip":
        request.getfixturevalue("double")
    elif not cuda.device_count():
        pytest.skip("no NVIDIA GPU here")
    return name


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with long ones first: processes that share the rest end together."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many shipped kernels were compiled for MI300, so that fewer than all is seen."""
    name = "test_every_kernel_shipped_compiles_for_gfx942"
    counts = {
        outcome: sum(name in report.nodeid for report in terminalreporter.stats.get(outcome, ()))
        for outcome in ("passed", "failed", "error", "skipped")
    }
    if any(counts.values()):
        told = ", ".join(f"{n} {outcome}" for outcome, n in counts.items() if n)
        terminalreporter.write_line(f"kernels compiled for gfx942 by hiprtc: {told}")
