/*---
launches:
  - kernel: softmax_rows
    grid: ["align_up(R, 8)"]
    block: [128]
    args: [x, y, R, C]
---*/
// Whole blocks leave a device function early; behind its last barrier some threads leave.
__device__ void one_row(const float* x, float* y, int row, int R, int C) {
    if (row >= R) return;
    __shared__ float most[128];
    __shared__ float sums[128];
    const float* in = x + (size_t)row * C;
    float m = in[0];
    for (int c = threadIdx.x; c < C; c += 128) m = fmaxf(m, in[c]);
    most[threadIdx.x] = m;
    __syncthreads();
    for (int i = 0; i < 128; ++i) m = fmaxf(m, most[i]);
    float s = 0.0f;
    for (int c = threadIdx.x; c < C; c += 128) s += expf(in[c] - m);
    sums[threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.x >= 64) return;
    s = 0.0f;
    for (int i = 0; i < 128; ++i) s += sums[i];
    for (int c = threadIdx.x; c < C; c += 64) y[(size_t)row * C + c] = expf(in[c] - m) / s;
}

__global__ void softmax_rows(const float* x, float* y, int R, int C) {
    one_row(x, y, blockIdx.x, R, C);
}
