"""Every right kernel of the honest suite passes on cpu, whatever its style: on the tests' shapes
and some held-out ones, and one in WHOLE on all of these; the soak tries each on every shape."""

import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import pytest

from evaluators.checks.inputs import InputPool
from evaluators.checks.shapes import shapes_for
from evaluators.cpu import device as cpu
from evaluators.cpu import fibers
from evaluators.cpu.emit import ENGINE
from evaluators.device import Compiled
from evaluators.evaluate import Evaluator, compile_kernel
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source import KernelSource
from evaluators.measuring.policy import policy_of
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

EVERY, WHOLE = 5, 20
DRAWS = 8
"""Of a shape, for all kernels; no kernel of the suite could make use of having met them."""

EvaluatorOf = Callable[[str], Evaluator]


@pytest.fixture(scope="module")
def evaluator_of() -> Iterator[EvaluatorOf]:
    """By task, so that its inputs are drawn once for all kernels."""
    device = cpu.open_device(0)

    @cache
    def of(name: str) -> Evaluator:
        task, policy = load_task(name), replace(policy_of("cpu"), fresh_bytes=0)
        pool = InputPool(task, secret=secrets.randbits(64), size=DRAWS)
        return Evaluator(task=task, device=device, secret=7, policy=policy, pool=pool)

    yield of
    device.close()


@cache
def compiled(name: str, engine: str) -> tuple[KernelSource, Compiled]:
    """Raises Rejected."""
    compiler = cpu.CpuCompiler(wavefront=64, engine=engine)
    task = load_task(task_of(name))
    kernel, made = compile_kernel(KERNELS[name].read_text(), task, compiler, "cpu")
    assert made.held_out, name
    return kernel, made


def excused(name: str, rejected: Rejected) -> bool:
    """Whether a kernel that may be UNSUPPORTED is, told in words about a line of its own."""
    word, told = UNSUPPORTED_ON_CPU.get(name), str(rejected)
    named = word is not None and word in told and "line " in told
    return rejected.status is Status.UNSUPPORTED and named


@contextmanager
def passing(name: str) -> Iterator[None]:
    try:
        yield
    except Rejected as rejected:
        assert excused(name, rejected), (rejected.status, str(rejected), rejected.log)


def verify(name: str, suite: Suite, evaluator_of: EvaluatorOf, *, engine: str = ENGINE) -> None:
    with passing(name):
        kernel, made = compiled(name, engine)
        verdict = evaluator_of(task_of(name)).verify(kernel, made, suite)
        if not verdict.passed:
            raise Rejected(verdict.status, verdict.reason, log=verdict.log)


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


@pytest.mark.parametrize("name", kernels("cpu", every=10))
def test_a_right_kernel_passes(name: str, evaluator_of: EvaluatorOf) -> None:
    evaluator = evaluator_of(task_of(name))
    task, turn = evaluator.task, [*KERNELS].index(name)
    with passing(name):
        kernel, made = compiled(name, ENGINE)
        held_out = shapes_for(kernel, task, "held_out", "cpu")[turn % EVERY :: EVERY]
        evaluator.correctness.check(kernel, made, [*task.workloads("tests", "cpu"), *held_out], {})


@pytest.mark.parametrize("name", kernels("cpu", every=WHOLE))
def test_a_right_kernel_passes_on_all_held_out_shapes(name: str, evaluator_of: EvaluatorOf) -> None:
    """With unusual values on large ones."""
    verify(name, "held_out", evaluator_of)


@pytest.mark.soak
@pytest.mark.parametrize("name", kernels("cpu"))
def test_a_right_kernel_passes_on_benchmark_shapes(name: str, evaluator_of: EvaluatorOf) -> None:
    verify(name, "benchmarks", evaluator_of)


@pytest.mark.soak
@pytest.mark.parametrize("name", kernels(fibers.ENGINE))
def test_a_right_kernel_passes_with_its_threads_in_other_orders(
    name: str, evaluator_of: EvaluatorOf
) -> None:
    verify(name, "tests", evaluator_of, engine=fibers.ENGINE)
