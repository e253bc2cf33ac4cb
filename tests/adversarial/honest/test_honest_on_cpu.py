"""Every right kernel of the honest suite passes on cpu, on every shape, whatever its style."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from evaluators.cpu import device as cpu
from evaluators.cpu import fibers
from evaluators.cpu.emit import ENGINE
from evaluators.device import Compiler
from evaluators.evaluate import Evaluator, Verdict, compile_kernel
from evaluators.evaluation import Rejected, Status
from evaluators.tasks.arguments import Suite
from evaluators.tasks.task_file import load_task
from tests.adversarial.honest.suite import (
    KERNELS,
    REFUSED,
    UNSUPPORTED_ON_CPU,
    kernels,
    task_of,
)

pytestmark = pytest.mark.long

EvaluatorOf = Callable[[str], Evaluator]


@pytest.fixture(scope="module")
def evaluator_of() -> Iterator[EvaluatorOf]:
    """By task, so that its inputs are drawn once for all kernels."""
    device = cpu.open_device(0)
    yield cache(lambda task: Evaluator(task=load_task(task), device=device, secret=7))
    device.close()


def verdict_on(
    name: str, suites: tuple[Suite, ...], evaluator: Evaluator, compiler: Compiler
) -> Verdict:
    """The first verdict that is not PASSED, or else the last one."""
    verdict = Verdict(status=Status.PASSED)
    source = KERNELS[name].read_text()
    try:
        kernel, compiled = compile_kernel(source, evaluator.task, compiler, "cpu")
    except Rejected as rejected:
        return Verdict(status=rejected.status, reason=str(rejected), log=rejected.log)
    for suite in suites:
        verdict = evaluator.verify(kernel, compiled, suite)
        if not verdict.passed:
            break
    return verdict


def excused(name: str, verdict: Verdict) -> bool:
    """Whether a kernel that may be UNSUPPORTED is, told in words about a line of its own."""
    word = UNSUPPORTED_ON_CPU.get(name)
    told = word is not None and word in verdict.reason and "line " in verdict.reason
    return verdict.status is Status.UNSUPPORTED and told


def check(
    name: str, suites: tuple[Suite, ...], evaluator_of: EvaluatorOf, *, engine: str = ENGINE
) -> None:
    compiler = cpu.CpuCompiler(wavefront=64, engine=engine)
    verdict = verdict_on(name, suites, evaluator_of(task_of(name)), compiler)
    assert verdict.passed or excused(name, verdict), (verdict.status, verdict.reason, verdict.log)


def test_there_are_at_least_twenty_a_task() -> None:
    counts = Counter(task_of(name) for name in KERNELS)
    assert set(counts) == {"sgemm", "softmax", "sum_reduction", "transpose"}
    assert min(counts.values()) >= 20
    code = {file.read_text().partition("---*/")[2] for file in KERNELS.values()}
    assert len(code) == len(KERNELS)


def test_exceptions_name_kernels_of_the_suite() -> None:
    named = {name for refused in REFUSED.values() for name in refused} | set(UNSUPPORTED_ON_CPU)
    assert named <= set(KERNELS)
    assert len(UNSUPPORTED_ON_CPU) <= len(KERNELS) // 12


@pytest.mark.parametrize("name", kernels("cpu"))
def test_a_right_kernel_passes(name: str, evaluator_of: EvaluatorOf) -> None:
    check(name, ("tests", "held_out"), evaluator_of)


@pytest.mark.soak
@pytest.mark.parametrize("name", kernels("cpu"))
def test_a_right_kernel_passes_on_benchmark_shapes(name: str, evaluator_of: EvaluatorOf) -> None:
    check(name, ("benchmarks",), evaluator_of)


@pytest.mark.soak
@pytest.mark.parametrize("name", kernels(fibers.ENGINE))
def test_a_right_kernel_passes_with_its_threads_in_other_orders(
    name: str, evaluator_of: EvaluatorOf
) -> None:
    check(name, ("tests",), evaluator_of, engine=fibers.ENGINE)
