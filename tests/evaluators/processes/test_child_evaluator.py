"""An evaluator in a process of its own, on cpu: same answers, faults, deadlines, what is left."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from evaluators.device import Compiled, Compiler, backend
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Status
from evaluators.kernel.source import KernelSource
from evaluators.measuring.policy import Anchor, TimingPolicy
from evaluators.measuring.race import AnchorFailed
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.sandbox.frames import Ended, Overdue, receive, send
from evaluators.sandbox.kept_waiting import Deadline
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from tests.evaluators.small_task import kernel, write_task

ROOT = Path(__file__).parents[3]
POLICY = TimingPolicy(
    min_blocks=3, max_blocks=3, budget_s=0.2, interval_us=300, link_blocks=4, deadline_cap_s=1.0
)
HELD = """
import sys, time
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.tasks.task_file import load_task
child = ChildEvaluator(task=load_task(sys.argv[1]), backend_name="cpu", secret=1)
print(child._child.pid, child._stand_by._waiting.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return load_task(write_task(tmp_path_factory.mktemp("task") / "small"))


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return backend("cpu").compiler()


@pytest.fixture(scope="module")
def child(task: Task) -> Iterator[ChildEvaluator]:
    with ChildEvaluator(task=task, backend_name="cpu", secret=5, policy=POLICY) as made:
        yield made


def built(text: str, task: Task, compiler: Compiler) -> tuple[KernelSource, Compiled]:
    return compile_kernel(text, task, compiler, "cpu")


@pytest.fixture(scope="module")
def anchor(task: Task, compiler: Compiler) -> Anchor:
    source, compiled = built(task.naive, task, compiler)
    return Anchor(kernel_id=source.id, kernel=source, compiled=compiled)


def process(child: ChildEvaluator) -> int:
    assert child._child is not None
    return child._child.pid


def gone(pid: int) -> bool:
    """Within a minute, ended or at least a zombie that nobody waits for."""
    for _ in range(1200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def stop_in_a_run(pid: int) -> None:
    """Once a kernel has had a third of a second of a core; or the process is gone."""
    while Path(f"/proc/{pid}/stat").exists() and not any(map(runs_long, children(pid))):
        time.sleep(0.01)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)


def children(pid: int) -> list[list[str]]:
    """The fields of their /proc/<pid>/stat, from the state on."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            found.append(file.read_text().rpartition(")")[2].split())
    return [fields for fields in found if int(fields[1]) == pid]


def runs_long(fields: list[str]) -> bool:
    return int(fields[11]) > 0.3 * os.sysconf("SC_CLK_TCK")  # its user time


def test_measure_link_and_verify_as_in_this_process(
    child: ChildEvaluator, anchor: Anchor, task: Task, compiler: Compiler
) -> None:
    source, compiled = built(kernel(preamble="// again"), task, compiler)
    made = child.measure(source, compiled, anchor)
    assert made.status is Status.PASSED, made.reason
    assert made.anchor_id == anchor.kernel_id
    assert {len(v) for v in child.link(source, compiled, anchor).values()} == {4}
    assert child.verify(source, compiled).passed
    wrong = built(kernel(after="if (i == 0) y[0] += 1.0f;"), task, compiler)
    assert child.measure(*wrong, anchor).reason.startswith("y[0] is ")
    assert "on a held-out shape" in child.verify(*wrong).reason
    assert child.device.info.backend == "cpu"


def test_a_child_killed_from_outside_is_replaced(
    child: ChildEvaluator, anchor: Anchor, task: Task, compiler: Compiler
) -> None:
    before = process(child)
    os.kill(before, signal.SIGKILL)
    made = child.measure(*built(kernel(), task, compiler), anchor)
    assert made.status is Status.PASSED, made.reason
    assert process(child) != before
    assert gone(before)


def test_a_child_that_stands_still_during_a_run_is_a_timeout(
    task: Task, compiler: Compiler, anchor: Anchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped as a driver's call that never returns would stop it."""
    monkeypatch.setattr("evaluators.processes.process.GRACE_S", 0.5)
    endless = built(
        kernel(before="while (i >= 0) { t[0] = i; if (t[0] == -5) break; }"), task, compiler
    )
    with ChildEvaluator(task=task, backend_name="cpu", secret=5, policy=POLICY) as own:
        first = process(own)
        stopper = threading.Thread(target=stop_in_a_run, args=(first,))
        stopper.start()
        made = own.measure(*endless, None)
        stopper.join()
        assert made.status is Status.TIMEOUT
        assert gone(first)
        assert own.measure(*built(kernel(), task, compiler), anchor).passed


def test_nothing_is_left_when_the_parent_is_killed(task: Task) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", HELD, str(task.folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    children = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(children) == 2
    parent.kill()
    parent.wait(timeout=200)
    parent.stdout.close()
    assert all(gone(pid) for pid in children)


def test_the_child_leaves_no_core_dump(child: ChildEvaluator) -> None:
    """On AMD one would hold the device's memory. The second column is the hard limit."""
    limits = Path(f"/proc/{process(child)}/limits").read_text()
    assert re.search(r"^Max core file size +0 +0 ", limits, re.MULTILINE)


def test_frames_carry_large_values_and_end() -> None:
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        send(there, list(range(200_000)))
        os._exit(0)
    os.close(there)
    assert receive(here, Deadline(os.getpid(), 20))[-1] == 199_999
    os.waitpid(child, 0)
    with pytest.raises(Ended):
        receive(here, Deadline(os.getpid(), 20))
    os.close(here)


def test_frames_have_a_deadline() -> None:
    here, there = os.pipe()
    with pytest.raises(Overdue):
        receive(here, Deadline(os.getpid(), 0.05))
    os.close(here)
    os.close(there)


def test_a_kernel_beside_which_the_anchor_fails_does_not_go_free(
    child: ChildEvaluator, anchor: Anchor, task: Task, compiler: Compiler
) -> None:
    """An anchor that is right in a check and wrong once it was launched more often."""
    preamble = "__device__ int calls;"
    before = "if (i == 0 && N > 2000) calls += 1; if (calls > 4) return;"
    source, compiled = built(kernel(preamble=preamble, before=before), task, compiler)
    failing = Anchor(kernel_id=source.id, kernel=source, compiled=compiled)
    made = child.measure(anchor.kernel, anchor.compiled, failing)
    assert made.status is Status.WRONG, made.reason
    assert "beside it the anchor failed in two processes" in made.reason


def test_an_anchor_that_fails_alone_too_is_to_blame(
    child: ChildEvaluator, anchor: Anchor, task: Task, compiler: Compiler
) -> None:
    source, compiled = built(kernel(before="if (N > 2000) return;"), task, compiler)
    failing = Anchor(kernel_id=source.id, kernel=source, compiled=compiled)
    with pytest.raises(AnchorFailed):
        child.measure(anchor.kernel, anchor.compiled, failing)
