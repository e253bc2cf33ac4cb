"""A small task that uses every role, and kernels for it: right ones, and each wrong in one way."""

from pathlib import Path

TASK = """
description: y = 2 x + w, and t is doubled in place.
dims: [N]
arguments:
  - {name: w, dtype: float32, shape: [N], role: constant}
  - {name: x, dtype: float32, shape: [N], role: in}
  - {name: t, dtype: int32, shape: [N], role: inout, rtol: 0, atol: 0,
     distribution: {kind: integers, low: 1, high: 9}}
  - {name: y, dtype: float32, shape: [N], role: out, rtol: 1.0e-5, atol: 1.0e-5}
flops: FLOPS
tests: [{N: 1}, {N: 100}]
benchmarks: [{N: 3000}, {N: 5001}]
held_out: [{N: 7000}]
"""

REFERENCE = """
def reference(w, x, t, N):
    assert float(w.flat[0]) == w.flat[0]  # no formula that the catalogue could read
    return {"y": 2 * x + w, "t": 2 * t}
"""

FRONT = """/*---
launches:
  - kernel: go
    grid: ["ceil_div(N, 64)"]
    block: [64]
    args: [w, x, t, y, N]
---*/
"""

CODE = """
PREAMBLE
__global__ void go(const float* w, const float* x, int* t, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    BEFORE
    if (i < N) {
        t[i] = 2 * t[i];
        y[i] = 2.0f * x[i] + w[i];
    }
    AFTER
}
"""

PREPARED = """/*---
prepare:
  - {kernel: copy, grid: ["ceil_div(N, 64)"], block: [64], args: [w, packed, N]}
launches:
  - {kernel: go, grid: ["ceil_div(N, 64)"], block: [64], args: [packed, x, t, y, N]}
scratch: {packed: "4 * N"}
---*/
__global__ void copy(const float* w, float* packed, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) packed[i] = w[i];
}
"""


def kernel(*, preamble: str = "", before: str = "", after: str = "", front: str = FRONT) -> str:
    """The right kernel with something added."""
    code = CODE.replace("PREAMBLE", preamble).replace("BEFORE", before).replace("AFTER", after)
    return front + code


SLOW = kernel(
    before="""
    float busy = x[0];
    for (int k = 0; k < 2000; ++k) busy = busy * 0.5f + 1.0f;
    if (busy == 123.0f) y[0] = busy;
    """
)


_SPACE = f"params: {{TX: 1}}\nspace: {{TX: {list(range(1, 65))}}}\n---*/"
SPACIOUS = kernel(front=FRONT.replace("---*/", _SPACE))
"""The right kernel with a space of its own, which a campaign can search."""


def write_task(folder: Path, *, flops: str = "N", seed: str = "") -> Path:
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(TASK.replace("FLOPS", f'"{flops}"'))
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "seeds" / "naive.hip").write_text(seed or kernel())
    return folder
