"""What tests of several packages share: what compiles for gfx942."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.device_info import BackendMissing
from evaluators.hip.clang import ClangChild
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.hip.rocm import ClangToolchain, find_toolchain

ROOT = Path(__file__).parents[1]


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
