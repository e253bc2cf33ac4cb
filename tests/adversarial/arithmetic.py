"""Kernels for the shipped tasks whose arithmetic is a parameter, and their checks without timing.

Each has one place where a value is loaded (IN), and others where products, sums or results are
made; a test names what stands there.
"""

from dataclasses import dataclass, field

from evaluators.device import Compiled, backend
from evaluators.evaluate import Evaluator, TimingPolicy, compile_kernel
from evaluators.evaluation import Verdict
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import Suite
from evaluators.tasks.task_file import load_task

Built = tuple[KernelSource, Compiled]

MET = 4
"""Checks: of its evaluation, its contest and two final sittings. Each has draws of its own, and one
alone may miss: random inputs can be kind to a wrong kernel."""

ROUNDINGS = """
union Bits { float real; unsigned word; };
__device__ float kept(float x, int drop) { // round to 23 - drop bits of mantissa
    Bits bits;
    bits.real = x;
    bits.word = (bits.word + (1u << (drop - 1))) & ~((1u << drop) - 1u);
    return bits.real;
}
__device__ float same(float x) { return x; }
__device__ float bf16(float x) { return kept(x, 16); }
__device__ float tf32(float x) { return kept(x, 13); }
__device__ float bits14(float x) { return kept(x, 9); }
__device__ float bits16(float x) { return kept(x, 7); }
__device__ float fixed16(float x) { return rintf(x * 32768.0f) * (1.0f / 32768.0f); }
__device__ float fixed24(float x) { return rintf(x * 16777216.0f) * (1.0f / 16777216.0f); }
__device__ float sizeable(float x) { return fabsf(x) < 1e-5f ? 0.0f * x : x; }
__device__ float clamped(float x) { return fminf(fmaxf(x, -1.0f), 1.0f); }
__device__ float bounded(float x) { return fminf(fmaxf(x, -64.0f), 64.0f); }
__device__ float numbers(float x) { return x == x ? x : 0.0f; }
__device__ float series(float x) { // 2^n (1 + r + r^2/2 + ...), a term or two short
    x = fmaxf(x, -87.0f);
    float n = rintf(x * 1.44269504f), r = x - n * 0.693147181f;
    Bits bits;
    bits.word = (unsigned)((int)n + 127) << 23;
    return bits.real * (1.0f + r * (1.0f + r * (0.5f + r * (0.166666667f + r * 0.0416666667f))));
}
__device__ float limited(float x) { return expf(fmaxf(x, -20.0f)); }
__device__ float table(float x) { return expf(rintf(x * 1024.0f) * (1.0f / 1024.0f)); }
"""

SGEMM = """/*---
launches:
  - {kernel: sgemm, grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"], block: [16, 16],
     args: [a, b, c, M, N, K]}
---*/
ROUNDINGS
__global__ void sgemm(const float* a, const float* b, float* c, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    float part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k = 0; k < K; ++k) {
        float product = PRODUCT(LEFT(a[row * K + k]) * RIGHT(b[k * N + col]));
        part[k % 4] = SUM(part[k % 4] + product);
    }
    c[row * N + col] = PART(part[0]) + PART(part[1]) + PART(part[2]) + PART(part[3]);
}
"""

SOFTMAX = """/*---
launches:
  - {kernel: softmax, grid: ["ceil_div(R, 64)"], block: [64], args: [x, y, R, C]}
---*/
ROUNDINGS
__global__ void softmax(const float* x, float* y, int R, int C) {
    int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= R) return;
    const float* in = x + (size_t)row * C;
    float* out = y + (size_t)row * C;
    float largest = IN(in[0]), sum = 0.0f;
    for (int i = 1; i < C; ++i) largest = fmaxf(largest, IN(in[i]));
    for (int i = 0; i < C; ++i) {
        float e = RESULT(EXP(IN(in[i]) - (LARGEST)));
        out[i] = e;
        sum = SUM(sum + e);
    }
    for (int i = 0; i < C; ++i) out[i] = out[i] * QUOTIENT(1.0f / sum);
}
"""

REDUCTION = """/*---
launches:
  - {kernel: sum_all, grid: [1], block: [256], args: [x, out, N]}
---*/
ROUNDINGS
__global__ void sum_all(const float* x, float* out, int N) {
    __shared__ float part[256];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += 256) sum = SUM(sum + IN(x[i]));
    part[threadIdx.x] = PART(sum);
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[0] = part[0];
}
"""

TRANSPOSE = """/*---
launches:
  - {kernel: transpose, grid: ["ceil_div(C, 16)", "ceil_div(R, 16)"], block: [16, 16],
     args: [x, y, R, C]}
---*/
ROUNDINGS
__global__ void transpose(const float* x, float* y, int R, int C) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < R && col < C) {
        float v = x[(size_t)row * C + col];
        y[(size_t)col * R + row] = VALUE;
    }
}
"""

_PLAIN = {
    "sgemm": (SGEMM, dict.fromkeys(("LEFT", "RIGHT", "PRODUCT", "SUM", "PART"), "same")),
    "softmax": (
        SOFTMAX,
        {
            **dict.fromkeys(("IN", "RESULT", "SUM", "QUOTIENT"), "same"),
            "EXP": "expf",
            "LARGEST": "largest",
        },
    ),
    "sum_reduction": (REDUCTION, dict.fromkeys(("IN", "SUM", "PART"), "same")),
    "transpose": (TRANSPOSE, {"VALUE": "v"}),
}


def kernel(task: str, *, where: str = "", **places: str) -> str:
    """The task's kernel with something else at the places named; all else is honest.

    where: a condition in the task's dims, for functions that stand at their places only there.
    """
    text, plain = _PLAIN[task]
    assert set(places) <= set(plain)
    defines = ""
    for name, what in {**plain, **places}.items():
        if where and name in places:
            defines += f"#define {name}(x) ({where} ? {what}(x) : {plain[name]}(x))\n"
        else:
            defines += f"#define {name} {what}\n"
    return text.replace("ROUNDINGS", ROUNDINGS + defines)


@dataclass(slots=True)
class Checks:
    """Verdicts on cpu, one Evaluator a task."""

    evaluators: dict[str, Evaluator] = field(default_factory=dict)
    compiled: dict[tuple[str, str], Built] = field(default_factory=dict)

    def verdict(self, name: str, text: str, suite: Suite = "tests") -> Verdict:
        """On the task's shapes of a suite."""
        task = load_task(name)
        if name not in self.evaluators:
            device = backend("cpu").open_device(0)
            self.evaluators[name] = Evaluator(
                task=task, device=device, secret=5, policy=TimingPolicy(thorough=True)
            )
        if (name, text) not in self.compiled:
            made = compile_kernel(text, task, backend("cpu").compiler(), "cpu")
            self.compiled[name, text] = made
        return self.evaluators[name].verify(*self.compiled[name, text], suite)

    def last(self, name: str, text: str) -> Verdict:
        """That of the check which finds it wrong, of as many as a kernel meets at least before it
        is announced; else of the last."""
        for _ in range(MET - 1):
            verdict = self.verdict(name, text)
            if not verdict.passed:
                return verdict
        return self.verdict(name, text)

    def close(self) -> None:
        for evaluator in self.evaluators.values():
            evaluator.device.close()
