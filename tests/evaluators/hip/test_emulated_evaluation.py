"""A kernel of machine code for gfx942, evaluated on the emulated device."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.device import backend
from evaluators.device_info import emulating
from evaluators.evaluate import evaluate_file
from evaluators.evaluation import Status
from evaluators.tasks.task_file import load_task
from tests.evaluators.small_task import kernel, write_task


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with emulating(True, "hip", asked_by="a test", order=0):
        if not backend("hip").device_count():
            pytest.skip("the emulator needs a C++ compiler and the disassembler of ROCm")
        yield write_task(tmp_path / "small", flops="1")


def test_a_right_kernel_passes_and_nothing_is_timed(folder: Path) -> None:
    found = evaluate_file(folder / "seeds" / "naive.hip", load_task(folder), "hip")
    assert found.passed, found.reason
    assert found.engine == "emulator" and "emulated" in found.device_class
    assert found.costs and not found.times_us and found.speedup is None
    assert found.over_seed == pytest.approx(1.0)


def test_a_kernel_that_executes_more_costs_more(folder: Path) -> None:
    slow = folder / "slow.hip"
    busy = "float b = w[0]; for (int k = 0; k < N; ++k) b = b * 0.5f + 1.0f;"
    slow.write_text(kernel(before=busy, after="if (b == 123.0f) y[0] = b;"))
    found = evaluate_file(slow, load_task(folder), "hip")
    assert found.passed, found.reason
    assert found.over_seed is not None and found.over_seed < 0.5


def test_lanes_far_apart_cost_the_cache_lines_that_they_touch(folder: Path) -> None:
    beside = "blockIdx.x * blockDim.x + threadIdx.x"
    apart = "threadIdx.x * gridDim.x + blockIdx.x"
    scattered = folder / "scattered.hip"
    scattered.write_text(kernel().replace(beside, apart))
    found = evaluate_file(scattered, load_task(folder), "hip")
    assert found.passed, found.reason
    assert found.over_seed is not None and found.over_seed < 0.5
    assert "let neighbouring lanes access neighbouring addresses" in found.advice[0]
    seed = evaluate_file(folder / "seeds" / "naive.hip", load_task(folder), "hip")
    assert seed.over_seed == pytest.approx(1.0)
    assert not any("neighbouring" in line for line in seed.advice)


def test_a_write_beyond_a_buffer_is_told_with_its_instruction(folder: Path) -> None:
    wrong = folder / "wrong.hip"
    wrong.write_text(kernel(after="if (i == N) y[i] = 1.0f;"))
    found = evaluate_file(wrong, load_task(folder), "hip")
    assert found.status is Status.WRONG
    assert "global_store_dword" in found.reason
