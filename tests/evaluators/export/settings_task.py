"""A task with attributes, a dtype parameter and an argument that may be null."""

from pathlib import Path

from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

SETTINGS = """description: scales
dims: [R, C]
attributes: {eps: 1.0e-5, causal: true, k: 2}
dtypes: {T: [float32, float64]}
arguments:
  - {name: x, dtype: T, shape: [R, C], role: in}
  - {name: bias, dtype: float32, shape: [C], role: in, optional: true}
  - {name: y, dtype: T, shape: [R, C], strides: ["C + 1", 1], role: out, rtol: 1e-2, atol: 1e-2}
tests: [{R: 3, C: 5}, {R: 7, C: 9, k: 3, causal: false}, {R: 2, C: 2, T: float64, bias: null}]
benchmarks: [{R: 64, C: 64, eps: 0.5}]
"""
SETTINGS_SEED = """/*---
launches:
  - {memset: {buffer: y, byte: 0}, when: "T == float64 or k > 2"}
  - kernel: scale<T, causal>
    grid: ["ceil_div(R, max(1, sizeof(T) - k))"]
    block: ["WAVEFRONT"]
    args:
      - x
      - bias
      - y
      - C
      - k
      - eps
      - {value: "sqrt(R) / 4 + eps", type: float32}
      - {value: "min(C, 2.5) // 2", type: float64}
      - {struct: [{value: "R - 1", type: int32}, null, x, {struct: []}]}
      - null
      - {value: "is_null(bias) * 5", type: uint32}
variants: [{when: "k > 2", params: {V: 4}}]
params: {V: 2}
---*/
template <typename T, bool CAUSAL>
__global__ void scale(const void*, const void*, void*, int, int, float, float, double, long long,
                      const void*, unsigned) {}
"""


def settings_task(folder: Path, seed: str) -> Task:
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(SETTINGS)
    (folder / "reference.py").write_text("def reference(x):\n    return {'y': x}\n")
    (folder / "seeds" / "naive.hip").write_text(seed)
    return load_task(folder)
