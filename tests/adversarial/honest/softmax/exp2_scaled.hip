/*---
launches:
  - kernel: softmax_exp2
    grid: ["ceil_div(R, 64)"]
    block: [64]
    args: [x, y, R, C]
---*/
// Powers of two instead of e; the maximum is taken off first, so that large inputs lose nothing.
#define LOG2_E 1.4426950408889634f

__global__ void softmax_exp2(const float* x, float* y, int R, int C) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= R) return;
    const float* p = &x[(size_t)row * C];
    float* q = &y[(size_t)row * C];
    float top = p[0];
    for (int c = 1; c < C; ++c) top = p[c] > top ? p[c] : top;
    float total = 0.f;
    for (int c = 0; c < C; ++c) total += q[c] = exp2f((p[c] - top) * LOG2_E);
    total = 1.f / total;
    for (int c = 0; c < C; ++c) q[c] *= total;
}
