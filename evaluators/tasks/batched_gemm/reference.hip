/*---
launches:
  - kernel: product
    grid: ["ceil_div(N, 64)", "ceil_div(M, 64)", B]
    block: [16, 8]
    args: [a, b, c, M, N, K]
---*/
#include <hip/hip_bf16.h>
// c[i] = a[i] b[i] in double precision: 8 x 4 elements a thread, from tiles in LDS.
__global__ void product(const __hip_bfloat16* a, const __hip_bfloat16* b, double* c, int M, int N,
                        int K) {
    __shared__ double left[16][65], right[16][65];
    a += (size_t)blockIdx.z * M * K;
    b += (size_t)blockIdx.z * K * N;
    c += (size_t)blockIdx.z * M * N;
    int x = threadIdx.x, y = threadIdx.y, thread = y * 16 + x;
    int top = blockIdx.y * 64, side = blockIdx.x * 64;
    double sums[8][4] = {};
    for (int k = 0; k < K; k += 16) {
        for (int i = thread; i < 16 * 64; i += 128) {
            int row = top + i / 16, col = side + i % 64;
            int in_row = k + i % 16, in_col = k + i / 64;
            bool has_a = row < M && in_row < K, has_b = in_col < K && col < N;
            left[i % 16][i / 16] = has_a ? __bfloat162float(a[(size_t)row * K + in_row]) : 0.0f;
            right[i / 64][i % 64] = has_b ? __bfloat162float(b[(size_t)in_col * N + col]) : 0.0f;
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
