/*---
launches:
  - kernel: transpose_swizzled
    grid: ["ceil_div(C, 32)", "ceil_div(R, 32)"]
    block: [256]
    args: [x, y, R, C]
---*/
// No padding: columns are exchanged by exclusive or with the row.
__device__ __forceinline__ int slot(int row, int col) { return row * 32 + (col ^ row); }

__global__ __launch_bounds__(256) void transpose_swizzled(const float* __restrict__ x,
                                                          float* __restrict__ y, int R, int C) {
    __shared__ float lds[32 * 32];
    const int lane = threadIdx.x & 31, group = threadIdx.x >> 5;
    const int r0 = blockIdx.y << 5, c0 = blockIdx.x << 5;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int r = group + (i << 3);
        if (r0 + r < R && c0 + lane < C) lds[slot(r, lane)] = x[(size_t)(r0 + r) * C + c0 + lane];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int c = group + (i << 3);
        if (c0 + c < C && r0 + lane < R) y[(size_t)(c0 + c) * R + r0 + lane] = lds[slot(lane, c)];
    }
}
