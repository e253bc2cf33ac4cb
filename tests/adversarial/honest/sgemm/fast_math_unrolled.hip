/*---
launches:
  - kernel: gemm_fast
    grid: ["ceil_div(N, 128)", "ceil_div(M, ROWS)"]
    block: [128]
    args: [a, b, c, M, N, K]
params: {ROWS: 4, UNROLL: 8}
space: {ROWS: [1, 2, 4, 8], UNROLL: [1, 4, 8]}
options: ["-ffast-math", "-O3"]
---*/
// The compiler may add in any order.
__global__ __launch_bounds__(128) void gemm_fast(const float* __restrict__ a,
                                                 const float* __restrict__ b,
                                                 float* __restrict__ c, int m, int n, int size) {
    const int col = (int)(blockIdx.x * 128u + threadIdx.x);
    const int row0 = (int)blockIdx.y * ROWS;
    if (col >= n) return;
    float sum[ROWS] = {};
#pragma unroll UNROLL
    for (int k = 0; k < size; ++k) {
        const float v = b[(size_t)k * n + col];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int row = min(row0 + r, m - 1);
            sum[r] += a[(size_t)row * size + k] * v;
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        if (row0 + r < m) c[(size_t)(row0 + r) * n + col] = sum[r];
    }
}
