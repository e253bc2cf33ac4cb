/*---
launches:
  - kernel: linear<T>
    grid: ["ceil_div(N, 64)", "ceil_div(M, 64)"]
    block: [16, 8]
    args: [x, w, bias, y, M, N, K]
---*/
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
// y = x w^T + bias in double precision: 8 x 4 elements a thread, from tiles in LDS.
template <typename T>
__global__ void linear(const T* x, const T* w, const T* bias, double* y, int M, int N, int K) {
    __shared__ double left[16][65], right[16][65];
    int across = threadIdx.x, down = threadIdx.y, thread = down * 16 + across;
    int top = blockIdx.y * 64, side = blockIdx.x * 64;
    double sums[8][4] = {};
    for (int k = 0; k < K; k += 16) {
        for (int i = thread; i < 16 * 64; i += 128) {
            int row = top + i / 16, col = side + i / 16, at = k + i % 16;
            left[i % 16][i / 16] = row < M && at < K ? (float)x[(size_t)row * K + at] : 0.0f;
            right[i % 16][i / 16] = col < N && at < K ? (float)w[(size_t)col * K + at] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < 16; ++i) {
            double rows[8], cols[4];
            for (int m = 0; m < 8; ++m) rows[m] = left[i][down + 8 * m];
            for (int n = 0; n < 4; ++n) cols[n] = right[i][across + 16 * n];
            for (int m = 0; m < 8; ++m)
                for (int n = 0; n < 4; ++n) sums[m][n] += rows[m] * cols[n];
        }
        __syncthreads();
    }
    for (int m = 0; m < 8; ++m)
        for (int n = 0; n < 4; ++n) {
            int row = top + down + 8 * m, col = side + across + 16 * n;
            if (row < M && col < N)
                y[(size_t)row * N + col] = sums[m][n] + (bias ? (double)(float)bias[col] : 0.0);
        }
}
