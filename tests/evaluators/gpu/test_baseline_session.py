"""Baselines in a GPU's session: on the emulator's driver a call, whose memory is the host's; on a
GPU torch and cuBLAS themselves."""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.baselines.batch import Plain
from evaluators.checks.check import check_workload
from evaluators.checks.inputs import InputPool
from evaluators.checks.judge import HostJudge
from evaluators.checks.memory import Arena, WorkloadMemory
from evaluators.device import backend, uncompiled
from evaluators.device_info import target_of
from evaluators.evaluate import evaluate_file
from evaluators.evaluation import Rejected, Status
from evaluators.gpu.baseline import GpuBaselineSession
from evaluators.hip.emulator.device import emulated_info
from evaluators.hip.emulator.driver import EmulatorDriver
from evaluators.kernel.baseline import PlannedBaseline
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task, shipped_tasks
from tests.evaluators.small_task import write_task

CALLS = """
import ctypes
import numpy as np

def at(address, count, kind):
    return np.ctypeslib.as_array((kind * count).from_address(address))

def twice(w, x, t, y, N):
    w, x, y = (at(one, N, ctypes.c_float) for one in (w, x, y))
    t = at(t, N, ctypes.c_int32)
    def call():
        np.multiply(t, 2, out=t)
        np.add(2 * x, w, out=y)
    return call

def raising(N):
    def call():
        raise ValueError(f"no such size: {N}")
    return call
"""


class Capturing(EmulatorDriver):
    """Captures what is enqueued as what it is: a function to call again."""

    def capture(self, enqueue: Callable[[], None]) -> Any:
        return enqueue

    def replay(self, graph: Any) -> None:
        graph()


@pytest.fixture
def task(tmp_path: Path) -> Task:
    folder = write_task(tmp_path / "small")
    (folder / "calls.py").write_text(CALLS)
    text = (folder / "task.yaml").read_text()
    (folder / "task.yaml").write_text(
        text + 'baselines: [{name: lib, call: "calls.py:twice"}, '
        '{name: bad, call: "calls.py:raising"}, {name: torch, torch: "x"}]\n'
    )
    return load_task(folder)


@pytest.fixture(params=[EmulatorDriver, Capturing])
def driver(request: pytest.FixtureRequest) -> Iterator[EmulatorDriver]:
    made = request.param(order=0, compute_units=4)
    yield made
    made.close()


def opened(
    task: Task, number: int, driver: EmulatorDriver, copies: int = 1
) -> tuple[GpuBaselineSession, WorkloadMemory]:
    (workload,) = (w for w in task.workloads("tests", "hip") if w.dims["N"] == 100)
    baseline = task.baselines[number]
    plan = PlannedBaseline(baseline).plan(task, workload, target_of("hip"))
    arena = Arena(task, [workload], [plan])
    compiled = uncompiled(baseline, emulated_info())
    session = GpuBaselineSession(driver, compiled, memory_bytes=copies * arena.nbytes)
    rng = np.random.default_rng(1)
    (memory,) = arena.in_turn(session, [workload], [plan], rng)
    return session, memory


def test_a_call_is_checked_as_a_kernel_is(task: Task, driver: EmulatorDriver) -> None:
    """An inout argument too, though a first call comes before those that count."""
    session, memory = opened(task, 0, driver)
    rng = np.random.default_rng(2)
    draws = InputPool(task, secret=3).draws(memory.workload, rng, 2)
    with session:
        found = check_workload(memory, [*draws, draws[0]], rng, deadline_s=5.0, endurance=3)
    assert found.errors.keys() == {"N=100/t", "N=100/y"}
    assert all(error <= 1.0 for error in found.errors.values()) and found.run_us > 0


def test_a_call_is_timed_on_each_binding_again_and_again(
    task: Task, driver: EmulatorDriver
) -> None:
    session, memory = opened(task, 0, driver)
    rng, judge = np.random.default_rng(2), HostJudge()
    draws = InputPool(task, secret=3).draws(memory.workload, rng, 2)
    with session:
        judge.place_shared(memory, draws[0], rng)
        for draw in draws:
            judge.place(memory, {0: draw}, rng)
            taken_us = session.time(memory.plan, memory.bindings[:1], deadline_s=5.0)
            assert taken_us > 0
            judge.judge(memory, {0: draw})


def test_what_its_own_code_raises_is_told_with_its_line(task: Task, driver: EmulatorDriver) -> None:
    session, memory = opened(task, 1, driver)
    with pytest.raises(Rejected) as caught, session:
        session.time(memory.plan, memory.bindings[:1], deadline_s=5.0)
    assert caught.value.status is Status.LAUNCH_ERROR
    assert caught.value.reason == ("it raised ValueError: no such size: 100 (calls.py, line 18)")


def test_a_graph_that_a_library_keeps_is_replayed_as_a_kernels_is(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the driver, within what the library has set up: its own replay() is not asked."""
    done: list[str] = []

    class Kept(Plain):
        def graph(self) -> Any:
            return lambda: done.append("replayed")

        @contextmanager
        def current(self) -> Iterator[None]:
            done.append("set up")
            yield
            done.append("put back")

        def warm(self) -> None:
            done.append("warm")

        def enqueue(self) -> None:
            raise AssertionError("the driver has the graph")

        def finish(self) -> None:
            done.append("finished")

    monkeypatch.setattr("evaluators.gpu.baseline.make_batch", lambda *_, **__: Kept())
    driver = Capturing(order=0, compute_units=4)
    monkeypatch.setattr(driver, "capture", lambda enqueue: None)
    session, memory = opened(task, 0, driver)
    with session:
        assert session.time(memory.plan, memory.bindings[:1], deadline_s=5.0) > 0
    assert done == ["warm", "set up", "replayed", "put back", "finished"]
    driver.close()


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed here")
def test_torch_that_is_missing_is_told_before_anything_runs(
    task: Task, driver: EmulatorDriver
) -> None:
    with pytest.raises(Rejected) as caught:
        opened(task, 2, driver)
    assert caught.value.status is Status.UNSUPPORTED
    assert caught.value.reason == "torch is not installed here"


def test_a_handle_that_fits_a_pointer_names_the_stream(driver: EmulatorDriver) -> None:
    assert ctypes.c_void_p(driver.stream_handle()).value in (None, driver.stream_handle())


GPU = next((one for one in ("cuda", "hip") if backend(one).device_count()), "")
needs_gpu = pytest.mark.skipif(
    not GPU or find_spec("torch") is None, reason="no GPU, or no torch, here"
)


@needs_gpu
@pytest.mark.parametrize("name", [one for one in shipped_tasks() if load_task(one).baselines])
def test_baselines_of_the_shipped_tasks_on_a_gpu(name: str) -> None:
    """Every one that the task names for the GPU is right, and measured beside the naive seed."""
    task = load_task(name)
    found = evaluate_file(task.folder / "seeds" / "naive.hip", task, GPU, seconds=5.0)
    assert found.passed and "torch" in found.baselines
    for beside in found.baselines.values():
        assert beside.ratio is not None, beside.refused
        assert beside.gains.keys() == found.times_us.keys()
