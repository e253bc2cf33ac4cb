"""The hip backend on the runtime double: contract, faults, devices, and its sentences."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from evaluators.device_info import DeviceFault
from evaluators.evaluation import Rejected, Status
from evaluators.hip.errors import hip_failure
from tests.evaluators.in_child import outcome
from tests.evaluators.launching import launch
from tests.evaluators.small_task import write_task

ROOT = Path(__file__).parents[3]
DOUBLE = ROOT / "tests" / "hip_double"
ADD = "__global__ void add(int* x) { x[threadIdx.x] += 1; }"
OPEN = """
import sys
from evaluators.hip import device as hip
from evaluators.device import BackendMissing
try:
    hip.open_device(int(sys.argv[1]))
except BackendMissing as missing:
    print(missing)
"""
EVALUATE = """
import sys
from pathlib import Path
from evaluators.hip import device as hip
from evaluators.evaluate import evaluate_file
from evaluators.measuring.policy import TimingPolicy
from tests.hip_double.twins import with_twins
plain = hip.compiler
hip.compiler = lambda **k: with_twins(plain(**k))
task = Path(sys.argv[1])
policy = TimingPolicy(
    max_blocks=4, budget_s=0.2, link_budget_s=0.2, interval_us=200.0, max_copies=4
)
(kernel,) = (task / "seeds").glob("*.hip")
made = evaluate_file(kernel, task, "hip", policy=policy, seconds=0.1)
print(made.status, made.reason, made.device_class, *made.times_us, *made.resources[:1])
"""

ACCEPT = """
import io, sys
from pathlib import Path
from evaluators.acceptance.report import accept_device
child = (sys.executable, "-c", sys.argv[2])
said = io.StringIO()
sections = ["device", "faults"]
print(accept_device("hip", Path(sys.argv[1]), said, only=sections, child=child))
"""
ACCEPT_CHILD = """
import sys
from evaluators.hip import device as hip
from evaluators.acceptance import child
from tests.hip_double.twins import with_twins
plain = hip.compiler
hip.compiler = lambda **k: with_twins(plain(**k))
sys.exit(child.main(sys.argv[1:]))
"""


def python(code: str, *arguments: str, timeout_s: float = 580) -> str:
    """What a script prints that runs beside the repository."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def contract(*options: str) -> str:
    """The contract suite's last lines, run over the double alone."""
    os.environ["KERNEL_SCIENTIST_CONTRACT"] = "hip"
    suite = ROOT / "tests" / "evaluators" / "test_device_contract.py"
    try:
        return python(
            "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))",
            *("-q", "-p", "no:cacheprovider", str(suite), *options),
        )
    finally:
        del os.environ["KERNEL_SCIENTIST_CONTRACT"]


@pytest.mark.long
def test_the_whole_contract(double: pytest.MonkeyPatch) -> None:
    said = contract()
    passed = re.search(r"(\d+) passed in", said.splitlines()[-1])
    assert passed, said
    assert int(passed[1]) >= 20
    assert "skipped" not in said


def test_timing_without_graphs(double: pytest.MonkeyPatch) -> None:
    double.setenv("HIP_DOUBLE_NO_GRAPHS", "1")
    assert contract("-k", "time_runs").splitlines()[-1].startswith("1 passed")


def test_the_whole_cascade(double: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = python(EVALUATE, str(write_task(tmp_path / "small")))
    named = r"PASSED  hip/AMD Instinct MI300X/304 CUs SPX/gfx942/hip N=3000"
    assert re.match(named, said), said
    assert "'waves_per_simd': 8.0" in said


@pytest.mark.soak
def test_recovery_from_faults(double: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As doctor --device tries it; how long it takes is nothing to ask of the double."""
    double.setenv("HIP_DOUBLE_DEVICES", "2")
    code = python(ACCEPT, str(tmp_path / "report.md"), ACCEPT_CHILD)
    text = (tmp_path / "report.md").read_text()
    assert "2 × AMD Instinct MI300X (gfx942), hiprtc " in text
    rows = {row.split(" | ")[0]: row for row in text.splitlines() if row.startswith("| ")}
    for name, verdict in {
        "| illegal address": "CRASHED (the process that ran bad ended with SIGABRT: Memory access",
        "| trap": "CRASHED (the process that ran bad ended with SIGILL",
        "| spinning beyond a deadline of 1 s": "TIMEOUT (the launches took longer than 1 s",
    }.items():
        assert verdict in rows[name], rows[name]
        assert "later the next kernel was found right" in rows[name], rows[name]
    assert code == ("1" if "| FAIL |" in text else "0")


@pytest.mark.parametrize(
    ("fault", "status", "said"),
    [
        ("illegal_address:1", Status.CRASHED, "memory that is not its own"),
        ("launch_failure:1", Status.CRASHED, "failed while it ran"),
        ("abort:1", Status.CRASHED, "SIGABRT"),
        ("hang:1", Status.TIMEOUT, "0.5 s"),
        ("out_of_memory:1", Status.CRASHED, "other processes hold"),  # a fault of the device
        ("illegal_address:2", Status.PASSED, ""),
    ],
)
def test_faults_on_demand(
    double: pytest.MonkeyPatch, fault: str, status: Status, said: str
) -> None:
    double.setenv("HIP_DOUBLE_FAULT", fault)
    step = launch("add", ["x"], block=(64, 1, 1))
    deadline_s = 0.5 if status is Status.TIMEOUT else 100.0  # of the wall clock, as on a GPU
    found, reason = outcome("hip", ADD, step, nbytes=256, deadline_s=deadline_s)
    assert found is status, reason
    assert said in reason


def test_a_small_device_runs_out_of_memory(double: pytest.MonkeyPatch) -> None:
    double.setenv("HIP_DOUBLE_MEMORY", "4096")
    step = launch("add", ["x"], block=(64, 1, 1))
    found, reason = outcome("hip", ADD, step, nbytes=1 << 20, deadline_s=100)
    assert (found, "out of memory" in reason) == (Status.LAUNCH_ERROR, True)


def test_work_is_done_on_the_pinned_device(double: pytest.MonkeyPatch, tmp_path: Path) -> None:
    double.setenv("HIP_DOUBLE_DEVICES", "4")
    double.setenv("HIP_VISIBLE_DEVICES", "3")
    double.setenv("HIP_DOUBLE_LOG", str(tmp_path / "log"))
    step = launch("add", ["x"], block=(64, 1, 1))
    assert outcome("hip", ADD, step, nbytes=256, deadline_s=100)[0] is Status.PASSED
    assert (tmp_path / "log").read_text().startswith("3 _Z3addPi 1,1,1 64,1,1 ")


@pytest.mark.parametrize(
    ("variable", "value", "index", "said"),
    [
        ("HIP_VISIBLE_DEVICES", "-1", 0, "finds no AMD GPU: check /dev/kfd, the group render"),
        ("HIP_DOUBLE_VERSION", "50713000", 0, "needs ROCm 6 or newer, the HIP runtime here is 5.7"),
        ("HIP_DOUBLE_DEVICES", "2", 2, "there is no HIP device 2: 2 are visible, from 0"),
        ("ROCM_PATH", "/nowhere", 0, "install ROCm's HIP runtime, or set ROCM_PATH"),
    ],
)
def test_a_machine_that_cannot_is_one_sentence(
    double: pytest.MonkeyPatch, variable: str, value: str, index: int, said: str
) -> None:
    double.setenv(variable, value)
    (line,) = python(OPEN, str(index)).splitlines()
    assert said in line


def test_every_error_of_hip_is_one_sentence() -> None:
    from hip import hip

    names = [name for name in hip.hipError_t.__members__ if name != "hipSuccess"]
    assert len(names) > 50
    for name in names:
        failure = hip_failure("hipSomething", name, "what the driver says")
        assert isinstance(failure, Rejected | DeviceFault)
        sentence = failure.reason if isinstance(failure, Rejected) else str(failure)
        assert name in sentence
        assert "\n" not in sentence
        assert len(sentence) > len(name) + 30


@pytest.mark.soak
def test_code_made_for_inspection_is_not_run(
    double: pytest.MonkeyPatch, clang_folder: Path, tmp_path: Path
) -> None:
    double.setenv("KERNEL_SCIENTIST_ROCM", str(clang_folder))
    wanted = r"BackendMissing: hip: .*clang 19 has not: fetch hiprtc"
    with pytest.raises(AssertionError, match=wanted):
        python(EVALUATE, str(write_task(tmp_path / "small")))
