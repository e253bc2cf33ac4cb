/*---
launches:
  - {kernel: row_max, grid: [R], block: [32], args: [x, y, C]}
---*/
#include <cfloat>

__device__ float warp_max(float v) {
#pragma unroll
    for (int lane_mask = 16; lane_mask > 0; lane_mask /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, lane_mask));
    return v;
}

__global__ void row_max(const float* x, float* y, int cols) {
    const float* row = x + (size_t)blockIdx.x * cols;
    float best = -FLT_MAX;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) best = fmaxf(best, row[c]);
    best = warp_max(best);
    if (threadIdx.x == 0) y[blockIdx.x] = best;
}
