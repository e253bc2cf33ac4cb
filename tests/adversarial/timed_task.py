"""A task whose honest kernels must be busy for long, for kernels that would rather not be."""

from pathlib import Path

from evaluators.device import Compiler, Device, backend
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Evaluation
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.policy import Anchor, TimingPolicy
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

TASK = """
description: y = x / 16 + 1.875, by 4 steps of v = v / 2 + 1.
dims: [N]
arguments:
  - {name: x, dtype: float32, shape: [N], role: in}
  - {name: y, dtype: float32, shape: [N], role: out, rtol: 1.0e-6, atol: 1.0e-6}
tests: [{N: 1}, {N: 100}]
benchmarks: [{N: 1900}, {N: 2301}]
held_out: [{N: 7013}]
"""

REFERENCE = """
def reference(x, N):
    for _ in range(4):
        x = x / 2 + 1
    return {"y": x}
"""

FRONT = """/*---
launches:
  - {kernel: go, grid: ["ceil_div(N, 64)"], block: [64], args: [x, y, N]}
---*/
"""

SCRATCH = """/*---
launches:
  - {kernel: go, grid: ["ceil_div(N, 64)"], block: [64], args: [x, y, kept, N]}
scratch: {kept: "4 * 40 * 8192"}
---*/
"""

CODE = """
PREAMBLE
__device__ float steps(float v, int count) {
    for (int k = 0; k < count; ++k) v = v * 0.5f + 1.0f;
    return v;
}
__global__ void go(const float* x, float* y, SCRATCH int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    BEFORE
    if (i < N) {
        float busy = x[i];
        for (int k = 0; k < 6; ++k) busy = steps(busy, 16) - 1.0f;
        y[i] = busy == 1234.5f ? busy : steps(x[i], 4);
    }
    AFTER
}
"""

COUNTED = """
if (i == 0) {
    if (N != last) { last = N; calls = 0; }
    ++calls;
}
"""
"""Runs on the shape in hand; a check makes no more than three in a row."""

POLICY = TimingPolicy(budget_s=0.3, interval_us=1500.0)


def kernel(*, preamble: str = "", before: str = "", after: str = "", scratch: bool = False) -> str:
    """The honest kernel with something added."""
    code = CODE.replace("PREAMBLE", preamble).replace("BEFORE", before).replace("AFTER", after)
    code = code.replace("SCRATCH", "float* kept," if scratch else "")
    return (SCRATCH if scratch else FRONT) + code


def write_task(folder: Path) -> Task:
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(TASK)
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "seeds" / "naive.hip").write_text(kernel())
    return load_task(folder)


class Contest:
    """Kernels against the task's naive seed, on one core."""

    def __init__(self, task: Task, device: Device, *, policy: TimingPolicy = POLICY) -> None:
        self.task = task
        self.compiler: Compiler = backend("cpu").compiler()
        self.evaluator = Evaluator(task=task, device=device, secret=5, policy=policy)
        naive, compiled = compile_kernel(task.naive, task, self.compiler, "cpu")
        self.anchor = Anchor(kernel_id=naive.id, kernel=naive, compiled=compiled)

    def measure(self, text: str, *, crowning: bool = False) -> Evaluation:
        """crowning: the anchor is the best so far, and who seems to be faster is looked at more."""
        kernel, compiled = compile_kernel(text, self.task, self.compiler, "cpu")
        labels = [workload.label for workload in self.evaluator.benchmarks]
        best = dict.fromkeys(labels, 0.0) if crowning else None
        return self.evaluator.measure(kernel, compiled, self.anchor, best)
