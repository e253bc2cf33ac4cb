"""A/A: naive seeds of shipped tasks timed against themselves, as candidates are against anchors."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evaluators.acceptance.trial import Broken, Setup, Trial
from evaluators.evaluate import compile_kernel, opened
from evaluators.measuring.intervals import half_width, speedup
from evaluators.measuring.policy import Anchor, policy_of
from evaluators.tasks.task_file import load_task
from evaluators.weights import weights_of

TASKS = ("sgemm", "softmax", "sum_reduction", "transpose")
"""Bound by arithmetic, special functions, reading and copying: others would tell the same of a
device, and take minutes more."""
MOST_OFF, MOST_OFF_CPU = 0.005, 0.05
"""|ln ratio| of a kernel to itself that is too much when it is also significant at 99%."""
WIDEST, WIDEST_CPU = 0.01, 0.2
"""Half of the 95% interval: beyond it a gain of 2% can't be told from none."""


def against_itself(setup: Setup, name: str) -> str:
    """The ratio and its interval, in words. Raises Broken when it is off or too wide."""
    task = load_task(name)
    kernel, compiled = compile_kernel(task.naive, task, setup.compiler, setup.backend_name)
    anchor = Anchor(kernel_id=kernel.id, kernel=kernel, compiled=compiled)
    policy = replace(policy_of(setup.backend_name), link_blocks=30, link_budget_s=4.0)
    with opened(task, setup.backend_name, policy=policy) as evaluator:
        blocks = evaluator.link(kernel, compiled, anchor)
    weights = weights_of(task.workloads("benchmarks", setup.backend_name))
    ratio, low, high = speedup(blocks, (), 0.99, weights=weights)
    width = half_width(blocks, weights=weights)
    one_block = float(np.sqrt(np.mean([np.var(values, ddof=1) for values in blocks.values()])))
    said = (
        f"{ratio:.4f} times itself, 99% interval {low:.4f} to {high:.4f}, one block varies by "
        f"{one_block:.2%} ({min(map(len, blocks.values()))} blocks on each of {len(blocks)} shapes)"
    )
    on_cpu = setup.backend_name == "cpu"
    off, widest = (MOST_OFF_CPU, WIDEST_CPU) if on_cpu else (MOST_OFF, WIDEST)
    if not low <= 1 <= high and abs(math.log(ratio)) > off:
        raise Broken(f"a kernel seems to be faster or slower than itself: {said}")
    if width > widest:
        raise Broken(f"too noisy to tell kernels apart: {said}")
    return said


def trials() -> Sequence[Trial]:
    def trial(name: str) -> Trial:
        return Trial(
            name=f"{name} against itself",
            run=lambda setup: against_itself(setup, name),
            times=True,
            todo="stop what else runs on the device, see its clocks and temperature (rocm-smi or "
            "nvidia-smi); until then small gains found here mean nothing",
        )

    return tuple(map(trial, TASKS))
