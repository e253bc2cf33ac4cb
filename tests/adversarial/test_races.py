"""Races between threads and blocks are found, though the engine that is timed does not mind."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from evaluators.checks.check import check_order
from evaluators.cpu import device as cpu
from evaluators.device_info import target_of
from evaluators.evaluate import Evaluator, compile_shown
from evaluators.evaluation import Rejected, Status
from evaluators.tasks.task_file import load_task
from tests.soaked import one_in

RACES = Path(__file__).parent / "races"
SOAK = {
    "softmax.row_in_scratch",
    "sum_reduction.atomics_on_unwritten_lds",
    "sum_reduction.vote_for_a_barrier",
    "transpose.copied_vectors",
    "transpose.tile_with_wave_barrier",
}
"""Beside others of the same kind, which run in CI."""

EvaluatorOf = Callable[[str], Evaluator]


def files(folder: str) -> list[object]:
    return [
        pytest.param(file, id=file.stem, marks=[pytest.mark.soak] * (file.stem in SOAK))
        for file in sorted((RACES / folder).glob("*.hip"))
    ]


@pytest.fixture(scope="module")
def evaluator_of() -> EvaluatorOf:
    """By task, whose seed's rounding is measured once for all kernels."""
    device = cpu.open_device(0)
    return cache(lambda task: Evaluator(task=load_task(task), device=device, secret=7))


def run(evaluator: Evaluator, file: Path) -> None:
    """The tests as the timed engine runs them, then the check of the order."""
    task = evaluator.task
    kernel, compiled = compile_shown(file.read_text(), task, cpu.compiler(), "cpu")
    verdict = evaluator.verify(kernel, compiled, "tests")
    assert verdict.status is Status.PASSED, verdict.reason
    oracle = cpu.oracle(kernel, evaluator.device.info)
    assert oracle is not None
    check_order(kernel, task, target_of("cpu"), oracle, evaluator.correctness.check)


def task_of(file: Path) -> str:
    return file.name.partition(".")[0]


@pytest.mark.parametrize("file", one_in(8, files("wrong")))
def test_a_race_is_found(evaluator_of: EvaluatorOf, file: Path) -> None:
    with pytest.raises(Rejected) as caught:
        run(evaluator_of(task_of(file)), file)
    assert caught.value.status is Status.WRONG


@pytest.mark.parametrize("file", one_in(8, files("right")))
def test_what_any_order_gives_right_passes(evaluator_of: EvaluatorOf, file: Path) -> None:
    run(evaluator_of(task_of(file)), file)
