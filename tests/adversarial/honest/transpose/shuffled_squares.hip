/*---
launches:
  - kernel: transpose_lanes
    grid: ["ceil_div(C, 16)", "ceil_div(R, 16)"]
    block: [256]
    args: [x, y, R, C]
---*/
// Sixteen lanes hold a 4 x 4 square and exchange it by one shuffle; no LDS at all.
__global__ void transpose_lanes(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    const int lane = threadIdx.x & 15;
    const int square = threadIdx.x >> 4;
    const int i = lane >> 2, j = lane & 3;
    const int r0 = blockIdx.y * 16 + (square >> 2) * 4;
    const int c0 = blockIdx.x * 16 + (square & 3) * 4;
    float v = 0.0f;
    if (r0 + i < R && c0 + j < C) v = x[(size_t)(r0 + i) * C + c0 + j];
    v = __shfl(v, j * 4 + i, 16);
    if (r0 + j < R && c0 + i < C) y[(size_t)(c0 + i) * R + r0 + j] = v;
}
