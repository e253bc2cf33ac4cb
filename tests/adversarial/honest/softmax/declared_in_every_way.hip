/*---
launches:
  - kernel: softmax_declared
    grid: [R]
    block: [64]
    args: [x, y, C]
params: {BUFFER: 0}
---*/
// Unnamed types, second declarators, braces, and an array whose size is a condition.
__global__ void softmax_declared(const float* x, float* y, int C) {
    __shared__ struct {
        float most[64], sum[64];
    } shared;
    struct {
        float m, s;
    } mine;
    const float *in = x + (size_t)blockIdx.x * C, *const begin = in;
    float *out = y + (size_t)blockIdx.x * C, keep[BUFFER > 0 ? BUFFER : 4];
    const unsigned t{threadIdx.x};
    auto last{C};
    mine.m = *begin, mine.s = 0.0f;
    for (int c = t, i = 0; c < last; c += 64, ++i) {
        const float v = in[c];
        if (i < (int)(sizeof keep / sizeof *keep)) keep[i] = v;
        mine.m = v > mine.m ? v : mine.m;
    }
    shared.most[t] = mine.m;
    __syncthreads();
    for (auto v : shared.most) mine.m = fmaxf(mine.m, v);
    for (int c = t, i = 0; c < last; c += 64, ++i) {
        mine.s += expf((i < (int)(sizeof keep / sizeof *keep) ? keep[i] : in[c]) - mine.m);
    }
    shared.sum[t] = mine.s;
    __syncthreads();
    float total = 0.0f, inverse;
    for (auto v : shared.sum) total += v;
    inverse = 1.0f / total;
    for (int c = t; c < last; c += 64) out[c] = expf(in[c] - mine.m) * inverse;
}
