"""What tests of several packages share: AMD's compiler for gfx942."""

import os
from collections.abc import Iterator

import pytest

from evaluators.device import BackendMissing
from evaluators.hiprtc import HiprtcChild


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
