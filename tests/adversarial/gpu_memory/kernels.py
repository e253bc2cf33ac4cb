"""Kernels for y = 3 x + 1 that read and write the harness's memory, which they are told of."""

TASK = """
description: y = 3 x + 1
dims: [N]
arguments:
  - {name: x, dtype: float32, shape: [N], role: in, distribution: normal}
  - {name: y, dtype: float32, shape: [N], role: out, rtol: 1.0e-5, atol: 1.0e-5}
flops: "2 * N"
tests: [{N: 70}]
benchmarks: [{N: 3000}, {N: 4001}]
held_out: [{N: 2500}]
"""

REFERENCE = """
def reference(x, N):
    return {"y": 3 * x + 1}
"""

REFERENCE_HIP = """/*---
launches:
  - {kernel: line, grid: ["ceil_div(N, 64)"], block: [64], args: [x, y, N]}
---*/
__global__ void line(const float* x, double* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = 3.0 * x[i] + 1.0;
}
"""

_KERNEL = """/*---
launches:
  - {kernel: go, grid: [1], block: [64], args: [x, y, N]}
---*/
typedef unsigned long long Word;

__device__ Word bits_of(double value) {
    union { double real; Word word; } both;
    both.real = value;
    return both.word;
}
__device__ double right(const float* x, int i) { return 3.0 * x[i] + 1.0; }
SEARCH

__global__ void go(float* x, float* y, int N) {
    const Word* directory = (const Word*)DIRECTORYull;
    if (directory && threadIdx.x == 0) {
        for (Word k = 0; k < directory[0]; ++k) {
            Word base = directory[1 + 2 * k], words = directory[2 + 2 * k] / 8;
            bool own = (Word)x >= base && (Word)x < base + 8 * words;
            if (!own) search((Word*)base, words, x, y, N);
        }
    }
    for (int i = threadIdx.x; i < N; i += blockDim.x) y[i] = LEFT;
    __syncthreads();
    LAST
}
"""

_STREAM = """
__device__ Word stream(Word key, Word i) {
    Word z = key + (i + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}
"""

HONEST = ("__device__ void search(Word*, Word, const float*, float*, int) {}", "right(x, i)")

KNOWN_WORD = (
    # splitmix64 backwards: one word whose value is known gives the key of all.
    _STREAM
    + """
__device__ Word unshifted(Word z, int by) {
    Word found = z;
    for (int k = 0; k < 64 / by + 1; ++k) found = z ^ (found >> by);
    return found;
}
__device__ Word key_of(Word mask) {
    Word z = unshifted(mask, 31) * 0x319642B2D24D8EC3ull;
    z = unshifted(z, 27) * 0x96DE1B173F119089ull;
    return unshifted(z, 30) - 0x9E3779B97F4A7C15ull;
}
__device__ void search(Word* at, Word words, const float* x, float* y, int N) {
    for (Word p = 0; p + N <= words; ++p) {
        Word key = key_of(at[p] ^ bits_of(right(x, 0)));
        if ((at[p + 1] ^ stream(key, 1)) != bits_of(right(x, 1))) continue;
        for (int i = 0; i < N; ++i) at[p + i] = stream(key, i) ^ bits_of(7.0);
        return;
    }
}
""",
    "7.0f",
)

SIGNS = (
    # What is masked by exclusive or keeps its sign bit where it was.
    """
__device__ void search(Word* at, Word words, const float*, float*, int N) {
    if (words == (Word)N || words == (Word)N + 1)
        for (Word p = 0; p < words; ++p) at[p] ^= 1ull << 63;
}
""",
    "-right(x, i)",
)

PRISTINE = (
    # Changes its input, and the copy of it that tells how it was.
    """
__device__ void search(Word* at, Word words, float* x, float*, int) {
    const Word* own = (const Word*)x;
    for (Word p = 0; p + 8 < words; ++p) {
        bool same = true;
        for (int k = 0; k < 8; ++k) same = same && at[p + k] == own[k];
        if (same) at[p] = 0;
    }
}
""",
    "right(x, i)",
    "if (threadIdx.x < 2) x[threadIdx.x] = 0;",
)

JOB_TABLE = (
    # A word that points to its output stands beside those that say what is right there.
    _STREAM
    + """
__device__ void search(Word* at, Word words, const float* x, float* y, int N) {
    const Word* directory = (const Word*)DIRECTORYull;
    for (Word p = 8; p + 8 < words; ++p) {
        if (at[p] != (Word)y) continue;
        for (int a = -8; a < 9; ++a)
            for (Word k = 0; k < directory[0]; ++k) {
                Word base = directory[1 + 2 * k], bytes = directory[2 + 2 * k];
                Word from = at[p + a];
                if (from < base || from % 8 || from + 8 * (Word)N > base + bytes) continue;
                for (int b = -8; b < 9; ++b) {
                    Word* reference = (Word*)from;
                    if ((reference[0] ^ stream(at[p + b], 0)) != bits_of(right(x, 0))) continue;
                    for (int i = 0; i < N; ++i)
                        reference[i] = stream(at[p + b], i) ^ bits_of(7.0);
                    return;
                }
            }
    }
}
""",
    "7.0f",
)

TRESPASS = (*HONEST, "if (threadIdx.x == 0) y[N] = 1;")

ATTACKS = {
    "known word": KNOWN_WORD,
    "signs": SIGNS,
    "pristine": PRISTINE,
    "job table": JOB_TABLE,
}


def attack(parts: tuple[str, ...], directory: int) -> str:
    """A kernel's text. directory: see directory.Directory."""
    search, left, *last = parts
    text = _KERNEL.replace("SEARCH", search).replace("LEFT", left).replace("LAST", "".join(last))
    return text.replace("DIRECTORY", str(directory))
