"""What evaluate and contests watch: every shape, so that code chosen by size hides no race."""

from pathlib import Path

import pytest

from evaluators.cpu import device as cpu
from evaluators.cpu.device import CpuDevice
from evaluators.evaluate import Evaluator
from evaluators.evaluation import Status
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.policy import TimingPolicy
from evaluators.tasks.task_file import load_task
from tests.soaked import one_in

LARGE = Path(__file__).parent / "races" / "large"
SOAK = {
    "sgemm.packed_by_one_block",
    "sum_reduction.last_index",
    "sum_reduction.waits_for_the_block_before",
}


def files(folder: str) -> list[object]:
    return [
        pytest.param(file, id=file.stem, marks=[pytest.mark.soak] * (file.stem in SOAK))
        for file in sorted((LARGE / folder).glob("*.hip"))
    ]


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return cpu.open_device(0)


def evaluator(device: CpuDevice, file: Path) -> Evaluator:
    task = load_task(file.name.partition(".")[0])
    return Evaluator(task=task, device=device, secret=7, policy=TimingPolicy(deadline_cap_s=1.0))


@pytest.mark.parametrize("file", one_in(4, files("wrong")))
def test_a_race_on_large_shapes_alone_is_found(device: CpuDevice, file: Path) -> None:
    verdict = evaluator(device, file).watch(parse_kernel(file.read_text()))
    assert verdict.status is Status.WRONG
    assert "line " in verdict.reason


@pytest.mark.parametrize("file", files("order"))
def test_so_is_a_wrong_order_that_is_no_race(device: CpuDevice, file: Path) -> None:
    """Atomic operations race with nothing; where all blocks were run their result is judged."""
    verdict = evaluator(device, file).watch(parse_kernel(file.read_text()))
    assert verdict.status is Status.WRONG
    assert "with blocks and threads in another order: out" in verdict.reason
    assert "expected" not in verdict.reason + verdict.log


@pytest.mark.parametrize("file", files("right"))
def test_what_waits_for_blocks_in_order_passes(device: CpuDevice, file: Path) -> None:
    verdict = evaluator(device, file).watch(parse_kernel(file.read_text()))
    assert verdict.passed, verdict.reason
