/*---
launches:
  - kernel: product
    grid: ["ceil_div(N, 64)", "ceil_div(M, 64)"]
    block: [16, 8]
    args: [a, b, a_scale, b_scale, c, M, N, K]
---*/
#include <hip/hip_fp8.h>
// In double precision: 8 x 4 elements a thread, from tiles in LDS that are scaled on their way.
__global__ void product(const __hip_fp8_e4m3_fnuz* a, const __hip_fp8_e4m3_fnuz* b,
                        const float* a_scale, const float* b_scale, double* c, int M, int N,
                        int K) {
    __shared__ double left[16][65], right[16][65];
    int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
    int top = blockIdx.y * 64, side = blockIdx.x * 64, blocks = (N + 127) / 128;
    double sums[8][4] = {};
    for (int k = 0; k < K; k += 16) {
        for (int i = thread; i < 16 * 64; i += 128) {
            int at = k + i / 64, row = top + i % 64, col = side + i % 64;
            left[i / 64][i % 64] =
                row < M ? (double)(float)a[(size_t)at * M + row] * a_scale[at / 128 * M + row] : 0;
            right[i / 64][i % 64] =
                col < N ? (double)(float)b[(size_t)at * N + col] *
                              b_scale[at / 128 * blocks + col / 128]
                        : 0;
        }
        __syncthreads();
        for (int i = 0; i < 16; ++i) {
            double rows[8], cols[4];
            for (int m = 0; m < 8; ++m) rows[m] = left[i][y + 8 * m];
            for (int n = 0; n < 4; ++n) cols[n] = right[i][x + 16 * n];
            for (int m = 0; m < 8; ++m)
                for (int n = 0; n < 4; ++n) sums[m][n] += rows[m] * cols[n];
        }
        __syncthreads();
    }
    for (int m = 0; m < 8; ++m)
        for (int n = 0; n < 4; ++n) {
            int row = top + y + 8 * m, col = side + x + 16 * n;
            if (row < M && col < N) c[(size_t)row * N + col] = sums[m][n];
        }
}
