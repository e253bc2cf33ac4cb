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

LARGE = Path(__file__).parent / "races" / "large"
WRONG = sorted((LARGE / "wrong").glob("*.hip"))
RIGHT = sorted((LARGE / "right").glob("*.hip"))


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return cpu.open_device(0)


def evaluator(device: CpuDevice, file: Path) -> Evaluator:
    task = load_task(file.name.partition(".")[0])
    return Evaluator(task=task, device=device, secret=7, policy=TimingPolicy(deadline_cap_s=1.0))


@pytest.mark.parametrize("file", WRONG, ids=[file.stem for file in WRONG])
def test_a_race_on_large_shapes_alone_is_found(device: CpuDevice, file: Path) -> None:
    verdict = evaluator(device, file).watch(parse_kernel(file.read_text()))
    assert verdict.status is Status.WRONG
    assert "line " in verdict.reason


@pytest.mark.parametrize("file", RIGHT, ids=[file.stem for file in RIGHT])
def test_what_waits_for_blocks_in_order_passes(device: CpuDevice, file: Path) -> None:
    verdict = evaluator(device, file).watch(parse_kernel(file.read_text()))
    assert verdict.passed, verdict.reason
