"""A kernel whose process is killed from outside is tried in others before that is its verdict."""

import os
import pickle
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluators.checks.disclosure import on
from evaluators.cpu.run_child import RunChild
from evaluators.device import Compiled, Compiler, Device, backend
from evaluators.evaluate import Anchor, Evaluator, compile_kernel, evaluate_file
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source import KernelSource
from evaluators.measuring.kills import PROCESSES
from evaluators.measuring.race import AnchorFailed
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.processes.messages import Running
from evaluators.processes.process import MeasuringProcess
from evaluators.sandbox.child import Child
from evaluators.tasks.arguments import TaskError, Workload
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from tests.evaluators.processes.test_child_evaluator import POLICY
from tests.evaluators.small_task import kernel, write_task

RUN = RunChild.run


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return load_task(write_task(tmp_path_factory.mktemp("task") / "small"))


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return backend("cpu").compiler()


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    opened = backend("cpu").open_device(0)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def anchor(task: Task, compiler: Compiler) -> Anchor:
    source, compiled = compile_kernel(task.naive, task, compiler, "cpu")
    return Anchor(kernel_id=source.id, kernel=source, compiled=compiled)


@pytest.fixture(scope="module")
def candidate(task: Task, compiler: Compiler) -> tuple[KernelSource, Compiled]:
    return compile_kernel(kernel(preamble="// another"), task, compiler, "cpu")


@pytest.fixture
def killing(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[int]]:
    """Kill the first so many run children as they begin to run; the list says whom."""

    def kill_first(count: int) -> list[int]:
        killed: list[int] = []

        def run(child: RunChild, records: int, deadline_s: float) -> float:
            if len(killed) < count:
                killed.append(child.pid)
                os.kill(child.pid, signal.SIGKILL)
            return RUN(child, records, deadline_s)

        monkeypatch.setattr(RunChild, "run", run)
        return killed

    return kill_first


@pytest.mark.parametrize("count", [1, PROCESSES - 1])
def test_a_kernel_that_was_killed_is_measured_again(
    task: Task,
    device: Device,
    candidate: tuple[KernelSource, Compiled],
    killing: Callable[[int], list[int]],
    count: int,
) -> None:
    killed = killing(count)
    evaluator = Evaluator(task=task, device=device, secret=1, policy=POLICY)
    made = evaluator.measure(*candidate, None)
    assert made.status is Status.PASSED, made.reason
    assert len(killed) == count


def test_a_kernel_whose_processes_are_all_killed_has_crashed(
    task: Task,
    device: Device,
    candidate: tuple[KernelSource, Compiled],
    killing: Callable[[int], list[int]],
) -> None:
    killed = killing(1000)
    evaluator = Evaluator(task=task, device=device, secret=1, policy=POLICY)
    made = evaluator.measure(*candidate, None)
    assert made.status is Status.CRASHED and len(killed) == PROCESSES
    assert made.reason.startswith(f"{PROCESSES} processes that ran it were killed")
    assert evaluator.verify(*candidate, "benchmarks").status is Status.CRASHED
    assert len(killed) == 2 * PROCESSES


def test_an_anchor_that_was_killed_once_is_not_given_up(
    task: Task,
    device: Device,
    anchor: Anchor,
    candidate: tuple[KernelSource, Compiled],
    killing: Callable[[int], list[int]],
) -> None:
    evaluator = Evaluator(task=task, device=device, secret=1, policy=POLICY)
    killed = killing(1)  # the first thing that runs is the anchor's own check
    made = evaluator.measure(*candidate, anchor)
    assert made.status is Status.PASSED and len(killed) == 1
    killing(1000)
    fresh = Evaluator(task=task, device=device, secret=1, policy=POLICY)
    with pytest.raises(AnchorFailed, match="killed"):
        fresh.measure(*candidate, anchor)
    with pytest.raises(Rejected, match="killed"):  # there the kernel is the first to run
        fresh.link(*candidate, anchor)


def test_one_file_is_judged_the_same_way(
    task: Task, tmp_path: Path, killing: Callable[[int], list[int]]
) -> None:
    path = tmp_path / "kernel.hip"
    path.write_text(kernel(preamble="// one file"))
    killed = killing(1)
    made = evaluate_file(path, task, "cpu", policy=POLICY, seconds=0)
    assert made.status is Status.PASSED, made.reason
    assert len(killed) == 1
    killing(1000)  # the naive seed is the first to run
    with pytest.raises(TaskError, match=f"naive seed.*{PROCESSES} processes .* were killed"):
        evaluate_file(path, task, "cpu", policy=POLICY)


def test_what_a_rejection_happened_on_leaves_it_a_kill() -> None:
    workload = Workload(dims={"N": 3}, suite="tests")
    with pytest.raises(Rejected) as caught, on(workload):
        raise Rejected(Status.CRASHED, "its process was killed", killed=True)
    assert caught.value.killed and "N=3" in caught.value.reason
    assert pickle.loads(pickle.dumps(caught.value)).killed


# --- the process that measures -------------------------------------------------------------------


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int, int], list[int]]:
    """End measuring processes in the middle of a kernel's run; the list says whom."""

    def end_while(kernel_id: str, number: int, count: int) -> list[int]:
        ended: list[int] = []

        def answer(process: MeasuringProcess, deadline_s: float) -> Any:
            got = Child.answer(process, deadline_s)
            while process.pid in ended:  # what it had said before it was ended
                got = Child.answer(process, deadline_s)
            runs = isinstance(got, Running) and got.kernel_id == kernel_id
            if runs and len(ended) < count:
                ended.append(process.pid)
                os.kill(process.pid, number)
            return got

        monkeypatch.setattr(MeasuringProcess, "answer", answer)
        return ended

    return end_while


def test_a_measuring_process_killed_while_a_kernel_runs_is_replaced(
    task: Task,
    anchor: Anchor,
    candidate: tuple[KernelSource, Compiled],
    ending: Callable[[str, int, int], list[int]],
) -> None:
    with ChildEvaluator(task=task, backend_name="cpu", secret=5, policy=POLICY) as child:
        ended = ending(candidate[0].id, signal.SIGKILL, 1)
        made = child.measure(*candidate, anchor)
        assert made.status is Status.PASSED, made.reason
        assert len(ended) == 1
        ended = ending(candidate[0].id, signal.SIGKILL, 1000)
        made = child.measure(*candidate, anchor)
        assert made.status is Status.CRASHED and len(ended) == PROCESSES


def test_a_kernel_that_aborts_its_process_has_crashed_at_once(
    task: Task,
    anchor: Anchor,
    candidate: tuple[KernelSource, Compiled],
    ending: Callable[[str, int, int], list[int]],
) -> None:
    with ChildEvaluator(task=task, backend_name="cpu", secret=5, policy=POLICY) as child:
        ended = ending(candidate[0].id, signal.SIGABRT, 1000)
        made = child.measure(*candidate, anchor)
    assert made.status is Status.CRASHED and "SIGABRT" in made.reason
    assert len(ended) == 1


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGKILL])
def test_a_process_lost_while_the_anchor_runs_is_the_anchors_fault(
    task: Task,
    anchor: Anchor,
    candidate: tuple[KernelSource, Compiled],
    ending: Callable[[str, int, int], list[int]],
    number: int,
) -> None:
    with ChildEvaluator(task=task, backend_name="cpu", secret=5, policy=POLICY) as child:
        ended = ending(anchor.kernel_id, number, 1000)
        with pytest.raises(AnchorFailed, match=signal.Signals(number).name):
            child.measure(*candidate, anchor)
        twice_and_alone = 3
        assert len(ended) == (PROCESSES if number == signal.SIGKILL else twice_and_alone)
        ended = ending("", number, 0)
        assert child.measure(*candidate, anchor).passed  # in another process
