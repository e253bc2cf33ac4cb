"""Small tasks that use what task files can say beyond dense float32 arrays: settings, functions of
their own, strides; each with a right seed and kernels that are wrong in known ways."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Own:
    """wrong: by name, what is replaced in the seed by what, and words of the verdict on tests."""

    task: str
    reference: str
    seed: str
    wrong: Mapping[str, tuple[str, str, str]]

    def write(self, folder: Path) -> Path:
        (folder / "seeds").mkdir(parents=True)
        (folder / "task.yaml").write_text(self.task)
        (folder / "reference.py").write_text(self.reference)
        (folder / "seeds" / "naive.hip").write_text(self.seed)
        return folder

    def broken(self, name: str) -> str:
        old, new, _ = self.wrong[name]
        assert old in self.seed
        return self.seed.replace(old, new)


SETTINGS = Own(
    task="""description: y = x (1 + eps) k + bias + a, where mask holds
dims: [R, C]
attributes: {eps: 1.0e-2, causal: true, k: 2}
dtypes: {T: [float32, bfloat16]}
arguments:
  - {name: in, dtype: T, shape: [R, C], role: in}
  - {name: bias, dtype: float32, shape: [C], role: in, optional: true}
  - {name: index, dtype: int64, shape: [R], role: in,
     distribution: {kind: integers, low: 0, high: C}}
  - {name: mask, dtype: bool, shape: [R], role: in}
  - {name: w, dtype: uint8, shape: [R], role: in,
     distribution: {kind: integers, low: 0, high: "100 * k"}}
  - {name: y, dtype: T, shape: [R, C], role: out, rtol: {float32: 1e-5, bfloat16: 2e-2},
     atol: "1e-5 / sqrt(4)"}
  - {name: z, dtype: float64, shape: [R], role: out, rtol: 1e-14, atol: 0}
  - {name: p, dtype: bool, shape: [R], role: out, rtol: 0, atol: 0}
tests:
  - {R: 4, C: 8}
  - {R: 5, C: 9, eps: 0.5, causal: false, T: bfloat16, bias: null}
  - {R: 3, C: 17, k: 1}
benchmarks:
  - {R: 64, C: 128}
  - {R: 64, C: 100, T: bfloat16, bias: null, causal: false}
values: []
""",
    reference="""import numpy as np

def reference(in_, bias, index, mask, w, eps, causal, k, T, R):
    assert T in ("float32", "bfloat16") and isinstance(causal, bool) and mask.dtype == bool
    y = in_ * (1 + eps) * k
    if bias is not None:
        y = y + bias
    if causal:
        y = y + w[:, None] / 256
    return {"y": np.where(mask[:, None], y, 0), "z": in_[np.arange(R), index] / 3, "p": ~mask}
""",
    seed="""/*---
launches:
  - kernel: scale<T, causal>
    grid: [R]
    block: ["WAVEFRONT"]
    args:
      - in
      - bias
      - index
      - mask
      - w
      - y
      - z
      - p
      - C
      - k
      - {value: "1 + eps", type: float32}
      - {struct: [{value: "1 / 256", type: float32}, null, {value: 3, type: float64}]}
      - {struct: []}
      - {value: "is_null(bias)", type: bool}
---*/
#include <hip/hip_bf16.h>
struct Extra { float step; const int* nothing; double three; };
struct Product { __device__ float operator()(float a, float b) const { return a * b; } };
template <typename T, bool CAUSAL>
__global__ void scale(const T* in, const float* bias, const long long* index, const bool* mask,
                      const unsigned char* w, T* y, double* z, bool* p, int C, int k, float factor,
                      Extra extra, Product product, bool none) {
    int r = blockIdx.x;
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        float v = product((float)in[r * C + c], factor * k) + (none ? 0.0f : bias[c]);
        if (CAUSAL) v += w[r] * extra.step;
        y[r * C + c] = (T)(mask[r] ? v : 0.0f);
    }
    if (threadIdx.x == 0) {
        double whole = (double)(float)in[r * C + index[r]];
        z[r] = whole / (extra.nothing ? 0.0 : extra.three);
        p[r] = !mask[r];
    }
}
""",
    wrong={
        "no attribute": ("if (CAUSAL) v", "if (!CAUSAL) v", "expected"),
        "single precision": (
            "whole / (extra.nothing ? 0.0 : extra.three)",
            "(float)(whole / extra.three)",
            "z[",
        ),
        "a bool of two": ("p[r] = !mask[r]", "((unsigned char*)p)[r] = 2", "p[0] is 2, expected"),
    },
)

ROWS = Own(
    task="""description: the product of a sparse matrix, by compressed rows, and a vector
dims: [R, E, C]
arguments:
  - {name: row_ptr, dtype: int32, shape: ["R + 1"], role: in}
  - {name: cols, dtype: int32, shape: ["R * E"], role: in}
  - {name: values, dtype: float32, shape: ["R * E"], role: in}
  - {name: x, dtype: float32, shape: [C], role: in}
  - {name: y, dtype: float32, shape: [R], role: out, rtol: 1e-4, atol: 1e-5}
tests: [{R: 3, E: 2, C: 5}, {R: 65, E: 7, C: 33}]
benchmarks: [{R: 500, E: 16, C: 499}]
values: []
""",
    reference="""import numpy as np

def inputs(rng, R, E, C):
    cuts = np.sort(rng.integers(0, R * E + 1, R - 1))
    return {"row_ptr": np.concatenate([[0], cuts, [R * E]]), "cols": rng.integers(0, C, R * E)}

def reference(row_ptr, cols, values, x, R):
    y = np.zeros(R)
    np.add.at(y, np.repeat(np.arange(R), np.diff(row_ptr)), values * x[cols])
    return {"y": y}
""",
    seed="""/*---
launches:
  - {kernel: rows, grid: ["ceil_div(R, 64)"], block: [64], args: [row_ptr, cols, values, x, y, R]}
---*/
__global__ void rows(const int* row_ptr, const int* cols, const float* values, const float* x,
                     float* y, int R) {
    int r = blockIdx.x * 64 + threadIdx.x;
    if (r >= R) return;
    float sum = 0;
    for (int i = row_ptr[r]; i < row_ptr[r + 1]; ++i) sum += values[i] * x[cols[i]];
    y[r] = sum;
}
""",
    wrong={
        "the last is left out": ("i < row_ptr[r + 1]", "i + 1 < row_ptr[r + 1]", "expected"),
        "changes what is made": ("y[r] = sum;", "y[r] = sum; ((int*)cols)[0] = 0;", ""),
    },
)

LARGEST = Own(
    task="""description: for each row the place of a largest element, any of several
dims: [R, C]
arguments:
  - {name: x, dtype: int32, shape: [R, C], role: in,
     distribution: {kind: integers, low: 0, high: 5}}
  - {name: at, dtype: int32, shape: [R], role: out}
tests: [{R: 3, C: 5}, {R: 65, C: 33}]
benchmarks: [{R: 400, C: 99}]
""",
    reference="""import numpy as np

def check(outputs, inputs, R):
    x, at = inputs["x"], outputs["at"]
    found = x[np.arange(R), at]
    bad = np.flatnonzero(found != x.max(axis=1))
    if bad.size:
        return f"row {bad[0]}: x[{at[bad[0]]}] is {found[bad[0]]}, and no largest one"
""",
    seed="""/*---
launches: [{kernel: largest, grid: ["ceil_div(R, 64)"], block: [64], args: [x, at, R, C]}]
---*/
__global__ void largest(const int* x, int* at, int R, int C) {
    int r = blockIdx.x * 64 + threadIdx.x;
    if (r >= R) return;
    int best = 0;
    for (int c = 1; c < C; ++c)
        if (x[r * C + c] > x[r * C + best]) best = c;
    at[r] = best;
}
""",
    wrong={
        "the first is left out": (
            "int best = 0",
            "int best = 1",
            "and no largest one (by the task",
        ),
        "beyond the row": ("at[r] = best", "at[r] = best + C", "check() raised IndexError: index "),
        "writes beyond": ("at[r] = best;", "at[r] = best; at[R] = 0;", "past the end of at"),
    },
)

PARTS = Own(
    task="""description: the sum of x, of which the host adds up parts of 256
dims: [N]
arguments:
  - {name: x, dtype: float32, shape: [N], role: in}
  - {name: part, dtype: float32, shape: ["ceil_div(N, 256)"], role: out, rtol: 1e-4,
     atol: "5e-6 * sqrt(N)"}
tests: [{N: 5}, {N: 1000}]
benchmarks: [{N: 20000}]
values: []
""",
    reference="""import numpy as np

def reference(x):
    return {"part": np.array([x.sum()])}

def epilogue(outputs, inputs):
    return {"part": outputs["part"].astype(float).sum(keepdims=True)}
""",
    seed="""/*---
launches: [{kernel: parts, grid: ["ceil_div(N, 256)"], block: [256], args: [x, part, N]}]
---*/
__global__ void parts(const float* x, float* part, int N) {
    if (threadIdx.x) return;
    float sum = 0;
    for (int i = blockIdx.x * 256; i < N && i < blockIdx.x * 256 + 256; ++i) sum += x[i];
    part[blockIdx.x] = sum;
}
""",
    wrong={"one percent more": ("= sum;", "= sum * 1.01f;", "part[0] is")},
)

STRIDED = Own(
    task="""description: y = x + x over matrices that are parts of wider ones
dims: [R, C]
arguments:
  - {name: x, dtype: float32, shape: [R, C], strides: ["C + 3", 1], role: in}
  - {name: y, dtype: float32, shape: [C, R], strides: [2, "2 * C"], role: out, rtol: 0, atol: 0}
tests: [{R: 3, C: 5}, {R: 17, C: 33}]
benchmarks: [{R: 64, C: 99}]
""",
    reference="""def reference(x):
    return {"y": (x + x).T}
""",
    seed="""/*---
launches: [{kernel: twice, grid: [R], block: [64], args: [x, y, C]}]
---*/
__global__ void twice(const float* x, float* y, int C) {
    int r = blockIdx.x;
    for (int c = threadIdx.x; c < C; c += 64)
        y[r * 2 * C + 2 * c] = x[r * (C + 3) + c] + x[r * (C + 3) + c];
}
""",
    wrong={
        "dense": ("x[r * (C + 3) + c];", "x[r * C + c];", "y[0"),
        "between": (
            "int r = blockIdx.x;",
            "int r = blockIdx.x; y[1] = 0;",
            "between the elements of y",
        ),
    },
)

OWN: Mapping[str, Own] = {
    "settings": SETTINGS,
    "rows": ROWS,
    "largest": LARGEST,
    "parts": PARTS,
    "strided": STRIDED,
}
