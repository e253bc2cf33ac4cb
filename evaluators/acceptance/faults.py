"""Kernels that fault, and what it costs until the next kernel is right again."""

import time
from collections.abc import Sequence

import numpy as np

from evaluators.acceptance.apart import START_S, Apart, Ended
from evaluators.acceptance.expecting import Broken, expect, expect_that
from evaluators.acceptance.launching import compile_one, launch, plan
from evaluators.acceptance.trial import Setup, Trial
from evaluators.device import Compiled
from evaluators.evaluation import Status
from evaluators.plan import LaunchStep, Plan

DEADLINE_S = 1.0
MOST_COST_S = 2.0
"""From the answer about the bad kernel to the next right result, in a process of its own."""

GOOD = "__global__ void good(int *out) { out[threadIdx.x] = 7 * threadIdx.x + 1; }"
ILLEGAL = "__global__ void bad(int *out) { out[(1LL << 40) + threadIdx.x] = 1; }"
TRAP = """
__global__ void bad(int *out) {
#if defined(__CUDACC__)
    __trap();
#else
    __builtin_trap();
#endif
}"""
SPIN = """
__global__ void bad(int *out) {
    float x = out[0];
    for (long long i = 0; i < 3000000000LL; ++i) x = fmaf(x, 0.999f, 1.0f);
    out[0] = x;
}"""
"""Each step waits for the one before it: 6 s or more, then the device frees itself."""


def recovery(setup: Setup, code: str, wanted: Status) -> str:
    """Verdict and cost in words. Raises Broken: another verdict, a wrong next kernel, too slow."""
    good_step = launch("good", ["out"], block=(64, 1, 1))
    bad_step = launch("bad", ["out"])
    good, bad = (
        compile_one(setup.compiler, GOOD, good_step),
        compile_one(setup.compiler, code, bad_step),
    )
    with Apart(setup.backend_name) as first:
        _check_good(_run(first, good, good_step), "before the fault")
        ended = _run(first, bad, bad_step)
        answered = time.monotonic()
    expect_that(ended.status is wanted, f"{ended.status} ({ended.reason}) where {wanted} should be")
    with Apart(setup.backend_name) as second:
        _check_good(_run(second, good, good_step), "after the fault")
        cost_s = time.monotonic() - answered
    said = f"{ended.status}: {ended.reason}; {cost_s:.2f} s later the next kernel was right"
    if cost_s > MOST_COST_S and setup.backend_name != "cpu":
        raise Broken(f"{said}, at most {MOST_COST_S:g} s are meant")
    return said


def _run(apart: Apart, compiled: Compiled, step: LaunchStep) -> Ended:
    once: Plan = plan(step)
    return apart.run(compiled, once, nbytes={"out": 256}, deadline_s=DEADLINE_S)


def _check_good(ended: Ended, when: str) -> None:
    expect_that(ended.status is Status.PASSED, f"a good kernel {when}: {ended.reason}")
    expect(np.frombuffer(ended.memory["out"], np.int32), 7 * np.arange(64) + 1, f"results {when}")


def trials() -> Sequence[Trial]:
    cases = (
        ("illegal address", ILLEGAL, Status.CRASHED),
        ("trap", TRAP, Status.CRASHED),
        (f"spinning beyond {DEADLINE_S:g} s", SPIN, Status.TIMEOUT),
    )
    return [
        Trial(
            name=name,
            run=lambda setup, code=code, wanted=wanted: recovery(setup, code, wanted),  # type: ignore[misc]
            todo="look into the kernel log (dmesg) for resets of the device; a campaign here "
            f"loses that device after such a candidate (a process may take {START_S:g} s to start)",
        )
        for name, code, wanted in cases
    ]
