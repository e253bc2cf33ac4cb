/*---
launches:
  - kernel: transpose_strip
    grid: ["ceil_div(C, 128)", "ceil_div(R, HEIGHT)"]
    block: [128]
    args: [x, y, R, C]
params: {HEIGHT: 16}
space: {HEIGHT: [4, 8, 16, 32]}
---*/
// A thread reads HEIGHT rows of one column, and writes a contiguous piece of a row.
__global__ void transpose_strip(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    const int c = blockIdx.x * 128 + threadIdx.x;
    const int r0 = blockIdx.y * HEIGHT;
    if (c >= C) return;
    const float* from = x + (size_t)r0 * C + c;
    float* to = y + (size_t)c * R + r0;
    if (r0 + HEIGHT <= R) {
        float v[HEIGHT];
#pragma unroll
        for (int i = 0; i < HEIGHT; ++i) v[i] = from[(size_t)i * C];
#pragma unroll
        for (int i = 0; i < HEIGHT; ++i) to[i] = v[i];
    } else {
        for (int i = 0; r0 + i < R; ++i) to[i] = from[(size_t)i * C];
    }
}
