"""Kernels that fault in a campaign's own measuring process, and what it costs until one is right.

The bad kernels pretend to be candidates of the task transpose.
"""

import secrets
import time
from collections.abc import Sequence
from functools import cache, partial

from evaluators.acceptance.trial import Broken, Setup, Trial, expect_that
from evaluators.device import Compiled, times
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Status
from evaluators.kernel.source import KernelSource
from evaluators.measuring.policy import TimingPolicy
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.tasks.task_file import load_task

TASK = "transpose"
DEADLINE_S = 1.0
MOST_COST_S = 2.0
"""From the answer about the bad kernel, which comes at its deadline, to the next right result."""

BAD = """/*---
launches:
  - {{kernel: bad, grid: [1], block: [1], args: [x, y, R]}}
---*/
__global__ void bad(const float *x, float *y, int R) {{
{body}
}}"""
ILLEGAL = "    y[(1LL << 40) + R] = x[0];"
TRAP = """
#if defined(__CUDACC__)
    __trap();
#else
    __builtin_trap();
#endif"""
SPIN = """
    float value = x[0];
    for (long long i = 0; i < 3000000000LL; ++i) value = fmaf(value, 0.999f, 1.0f);
    y[0] = value;"""
"""Each step waits for the one before it: 6 s or more, then the device is free by itself."""


def recovery(setup: Setup, body: str, wanted: Status) -> str:
    """Verdict and cost in words. Raises Broken: another verdict, a wrong next kernel, too slow."""
    task, name = load_task(TASK), setup.backend_name
    good = _good(setup)
    bad = compile_kernel(BAD.format(body=body), task, setup.compiler, name)
    with ChildEvaluator(
        task=task,
        backend_name=name,
        secret=secrets.randbits(128),
        policy=TimingPolicy(deadline_cap_s=DEADLINE_S),
        compiler=setup.compiler,
    ) as evaluator:
        before = evaluator.verify(*good, "tests")
        expect_that(before.passed, f"a good kernel before the fault: {before.reason}")
        verdict = evaluator.verify(*bad, "tests")
        answered = time.monotonic()
        after = evaluator.verify(*good, "tests")
        cost_s = time.monotonic() - answered
    said = f"{verdict.status} ({verdict.reason})"
    expect_that(verdict.status is wanted, f"{said} where {wanted} should be")
    expect_that(after.passed, f"{said}, and the next kernel was {after.status}: {after.reason}")
    said += f"; {cost_s:.2f} s later the next kernel was found right"
    if cost_s > MOST_COST_S and name != "cpu" and times(name):
        raise Broken(f"{said}, at most {MOST_COST_S:g} s are meant")
    return said


@cache
def _good(setup: Setup) -> tuple[KernelSource, Compiled]:
    task = load_task(TASK)
    return compile_kernel(task.naive, task, setup.compiler, setup.backend_name)


def trials() -> Sequence[Trial]:
    cases = (
        ("illegal address", ILLEGAL, Status.CRASHED),
        ("trap", TRAP, Status.CRASHED),
        (f"spinning beyond a deadline of {DEADLINE_S:g} s", SPIN, Status.TIMEOUT),
    )
    return [
        Trial(
            name=name,
            run=partial(recovery, body=body, wanted=wanted),
            todo="look into the kernel log (dmesg) for resets of the device; until this works "
            "every such candidate costs a campaign more than it should, or its device",
        )
        for name, body, wanted in cases
    ]
