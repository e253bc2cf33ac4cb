/*---
launches:
  - kernel: transpose_stream
    grid: ["ceil_div(C, 64)", "ceil_div(R, 64)"]
    block: [64, 4]
    args: [x, y, R, C]
---*/
// AMD habits: tiles of a wavefront's width, stores that do not stay in the cache.
#define W 64

__global__ __launch_bounds__(256) void transpose_stream(const float* __restrict__ x,
                                                        float* __restrict__ y, int R, int C) {
    __shared__ float lds[W][W + 1];
    const int lane = hipThreadIdx_x;
    const int wave = hipThreadIdx_y;
    const int c0 = hipBlockIdx_x * W, r0 = hipBlockIdx_y * W;
#pragma unroll
    for (int i = 0; i < W; i += 4) {
        const int r = r0 + wave + i;
        if (r < R && c0 + lane < C) {
            lds[wave + i][lane] = __builtin_nontemporal_load(&x[(size_t)r * C + c0 + lane]);
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < W; i += 4) {
        const int c = c0 + wave + i;
        if (c < C && r0 + lane < R) {
            __builtin_nontemporal_store(lds[lane][wave + i], &y[(size_t)c * R + r0 + lane]);
        }
    }
}
