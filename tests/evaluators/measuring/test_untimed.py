"""Devices that are not timed: kernels are checked on small shapes, and ordered by their costs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.cpu.device import device_count
from evaluators.device import backend, register, times
from evaluators.device_info import FURTHER_BACKENDS, DeviceInfo
from evaluators.evaluate import compile_kernel, evaluate_file, opened
from evaluators.evaluation import Evaluation, Rejected, Status
from evaluators.measuring.cost import cost
from evaluators.measuring.gain import gain
from evaluators.measuring.policy import UNTIMED_POLICY, Anchor, policy_of
from evaluators.measuring.sittings import GPU_SPREAD
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from tests.evaluators import untimed
from tests.evaluators.small_task import kernel as kernel_text
from tests.evaluators.small_task import write_task

on_cpu = pytest.mark.skipif(device_count() == 0, reason="the cpu backend finds no compiler")


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(FURTHER_BACKENDS, "")
    register(untimed.NAME, untimed.MODULE)
    yield


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return load_task(write_task(tmp_path / "small", flops="1"))


@on_cpu
def test_a_right_kernel_passes_with_costs_and_no_times(task: Task) -> None:
    found = evaluate_file(task.folder / "seeds" / "naive.hip", task, untimed.NAME)
    assert found.passed, found.reason
    assert not found.timed
    assert not found.times_us and not found.blocks
    assert found.speedup is None and found.ci95 is None
    assert found.over_seed == pytest.approx(1.0)
    assert all(one > 0 for one in found.costs.values())
    assert found.device_class.endswith("/counting")
    assert found.advice[0].endswith("vector instructions were executed.")


@on_cpu
def test_a_kernel_of_fewer_blocks_costs_less_and_comes_first(task: Task) -> None:
    wide = kernel_text().replace("64", "256")
    compiler = backend(untimed.NAME).compiler()
    seed, seed_built = compile_kernel(task.naive, task, compiler, untimed.NAME)
    kernel, built = compile_kernel(wide, task, compiler, untimed.NAME)
    anchor = Anchor(kernel_id=seed.id, kernel=seed, compiled=seed_built)
    with opened(task, untimed.NAME) as evaluator:
        first = evaluator.measure(seed, seed_built, None)
        found = evaluator.measure(kernel, built, anchor)
        with pytest.raises(Rejected, match="nothing is timed"):
            evaluator.link(kernel, built, anchor)
    assert found.over_seed is not None and found.over_seed > 3
    assert found.costs.keys() == first.costs.keys()
    ratio = gain(found, first, GPU_SPREAD)
    assert ratio is not None and ratio[0] == ratio[1] == ratio[2] == pytest.approx(found.over_seed)


@on_cpu
def test_a_wrong_kernel_is_wrong(task: Task, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.hip"
    wrong.write_text(kernel_text().replace("2.0f * x[i]", "2.5f * x[i]"))
    found = evaluate_file(wrong, task, untimed.NAME)
    assert found.status is Status.WRONG
    assert not found.costs


def test_costs_and_times_never_go_together() -> None:
    said = {"kernel_id": "k", "task_hash": "t", "device_class": "d", "status": Status.PASSED}
    for more in ({"times_us": {"N=1": 1.0}}, {"speedup": 2.0}):
        with pytest.raises(ValueError, match="not timed"):
            Evaluation(**said, costs={"N=1": 1.0}, **more)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="PASSED"):
        Evaluation(**said)  # type: ignore[arg-type]


def test_the_backend_says_that_it_times_nothing() -> None:
    assert not times(untimed.NAME)
    assert policy_of(untimed.NAME) is UNTIMED_POLICY
    assert times("cpu")


INFO = DeviceInfo(
    backend="hip",
    name="AMD Instinct MI300X, emulated",
    arch="gfx942",
    engine="emulator",
    compiler="hiprtc",
    wavefront=64,
    lds_bytes=1 << 16,
    max_threads=1024,
    cache_bytes=1 << 28,
    compute_units=304,
)


def of(kind: str, waves: float = 8.0, number: float = 1216.0) -> float:
    """Of so many instructions of one kind, one for each SIMD."""
    return cost({"k": {kind: number}}, [{"symbol": "k", "waves_per_simd": waves}], INFO)


def test_costs_are_cycles_a_simd() -> None:
    assert of("valu") == 4
    assert of("valu", number=2432) == 8
    assert of("salu") < of("valu") < of("mfma.16") < of("mfma.64") == 64
    assert of("something.new") == of("valu")


def test_wider_accesses_cost_less_for_their_bytes() -> None:
    narrow, wide = of("memory.global.load.4"), of("memory.global.load.16")
    assert narrow < wide < 4 * narrow
    assert of("memory.scratch.store.4") > of("memory.global.store.4") > of("memory.lds.4")


def test_scattered_lanes_cost_their_cache_lines() -> None:
    """64 lanes of a line each, as the first-level cache takes 64 bytes a clock for four SIMDs."""
    assert of("memory.lines", number=62 * 1216) == 62 * 128 / 64 * 4


def test_few_resident_wavefronts_hide_little_of_memory() -> None:
    assert of("memory.global.load.4", waves=1) > of("memory.global.load.4", waves=8)
    assert of("valu", waves=1) == of("valu", waves=8)
