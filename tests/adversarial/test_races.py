"""Races between threads and blocks are found, though the engine that is timed does not mind."""

from pathlib import Path

import pytest

from evaluators.checks.check import check_order
from evaluators.cpu import device as cpu
from evaluators.cpu.device import CpuDevice
from evaluators.evaluate import Evaluator, compile_kernel
from evaluators.evaluation import Rejected, Status
from evaluators.tasks.task_file import load_task

RACES = Path(__file__).parent / "races"
SOAK = {
    "softmax.row_in_scratch",
    "sum_reduction.atomics_on_unwritten_lds",
    "sum_reduction.vote_for_a_barrier",
    "transpose.copied_vectors",
    "transpose.tile_with_wave_barrier",
}
"""Beside others of the same kind, which run in CI."""


def files(folder: str) -> list[object]:
    return [
        pytest.param(file, id=file.stem, marks=[pytest.mark.soak] * (file.stem in SOAK))
        for file in sorted((RACES / folder).glob("*.hip"))
    ]


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return cpu.open_device(0)


def run(device: CpuDevice, file: Path) -> None:
    """The tests as the timed engine runs them, then the check of the order."""
    task = load_task(file.name.partition(".")[0])
    kernel, compiled = compile_kernel(file.read_text(), task, cpu.compiler(), "cpu")
    evaluator = Evaluator(task=task, device=device, secret=7)
    verdict = evaluator.verify(kernel, compiled, "tests")
    assert verdict.status is Status.PASSED, verdict.reason
    oracle = cpu.oracle(kernel, device.info)
    assert oracle is not None
    check_order(kernel, task, "cpu", oracle, evaluator.correctness.check)


@pytest.mark.parametrize("file", files("wrong"))
def test_a_race_is_found(device: CpuDevice, file: Path) -> None:
    with pytest.raises(Rejected) as caught:
        run(device, file)
    assert caught.value.status is Status.WRONG


@pytest.mark.parametrize("file", files("right"))
def test_what_any_order_gives_right_passes(device: CpuDevice, file: Path) -> None:
    run(device, file)
