"""A copy kernel with as much extra work as asked for, and faults to put into it."""

from collections.abc import Mapping
from pathlib import Path

from evaluators.acceptance.trial import Broken
from evaluators.device import Compiled, Compiler
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Evaluation
from evaluators.kernel.source import KernelSource
from evaluators.measuring.policy import Anchor
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

TASK = """
description: y = x.
dims: [N]
arguments:
  - {name: x, dtype: float32, shape: [N], role: in}
  - {name: y, dtype: float32, shape: [N], role: out, rtol: 0, atol: 0}
tests: [{N: 1000}]
benchmarks: [{N: ELEMENTS}]
"""
REFERENCE = """
def reference(x, N):
    assert float(x.flat[0]) == x.flat[0]  # no formula: the catalogue writes no other kernels
    return {"y": x}
"""
KERNEL = """/*---
params: {ROUNDS: COUNT}
launches:
  - {kernel: busy_copy, grid: ["ceil_div(N, 256)"], block: [256], args: [x, y, N]}
---*/
__global__ void busy_copy(const float* x, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float busy = x[i];
    for (int k = 0; k < ROUNDS; ++k) busy = busy * 0.5f + 1.0f;
    FAULT
    y[i] = busy == 123456.0f ? busy : x[i];
}
"""
FAULTS = {
    "illegal address": "y[(1LL << 40) + i] = 1.0f;",
    "trap": """
#if defined(__CUDACC__)
    __trap();
#else
    __builtin_trap();
#endif
""",
    "spin of 6 s": "for (long long k = 0; k < 3000000000LL; ++k) busy = busy * 0.999f + 1.0f;",
}

Built = tuple[KernelSource, Compiled]


class Lab:
    """One device and the compiler for it."""

    def __init__(self, child: ChildEvaluator, task: Task, compiler: Compiler) -> None:
        self.child = child
        self.task = task
        self.compiler = compiler

    def build(self, rounds: int, fault: str = "") -> Built:
        text = KERNEL.replace("COUNT", str(rounds)).replace("FAULT", fault)
        return compile_kernel(text, self.task, self.compiler, self.child.backend)

    def time_us(self, rounds: int) -> float:
        """Of one launch. Raises Broken."""
        made = self.child.measure(*self.build(rounds), None)
        if not made.passed:
            raise Broken(f"the copy kernel is {made.status}: {made.reason}")
        return next(iter(made.times_us.values()))

    def rounds_for(self, target_us: float) -> tuple[int, float, float]:
        """Rounds, microseconds they take, and microseconds a round from there to twice as many."""
        low, high = 16, 4096
        low_us, high_us = self.time_us(low), self.time_us(high)
        for _ in range(3):
            slope = (high_us - low_us) / (high - low)
            rounds = max(32, round(high + (target_us - high_us) / slope))
            if abs(rounds - high) <= high / 50:  # timing would be all that differs
                break
            low, low_us, high, high_us = high, high_us, rounds, self.time_us(rounds)
        return high, high_us, (self.time_us(2 * high) - high_us) / high

    def compare(self, candidate: Built, anchor: Built) -> Evaluation:
        return self.child.measure(*candidate, _anchor(anchor))

    def link(self, candidate: Built, anchor: Built) -> Mapping[str, tuple[float, ...]]:
        return self.child.link(*candidate, _anchor(anchor))


def _anchor(built: Built) -> Anchor:
    return Anchor(kernel_id=built[0].id, kernel=built[0], compiled=built[1])


def write_task(folder: Path, elements: int) -> Task:
    (folder / "seeds").mkdir()
    (folder / "task.yaml").write_text(TASK.replace("ELEMENTS", str(elements)))
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "seeds" / "naive.hip").write_text(KERNEL.replace("COUNT", "16").replace("FAULT", ""))
    return load_task(folder)
