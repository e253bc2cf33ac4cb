/*---
launches:
  - kernel: gemm_nt_pipelined<BM, BN, BK>
    grid: ["ceil_div(N, BN)", "ceil_div(M, BM)"]
    block: ["BN // 2", "BM // 2"]
    args: [a, b, c, M, N, K]
params: {BM: 32, BN: 32, BK: 8}
space: {BM: [16, 32], BN: [16, 32], BK: [4, 8, 16]}
---*/
#include <hip/hip_runtime.h>

namespace {

// Copy a TILE_ROWS x TILE_K tile of a row-major matrix into LDS, transposed, zero outside.
template <int TILE_ROWS, int TILE_K>
__device__ inline void load_tile(float (&tile)[TILE_K][TILE_ROWS + 1], const float* matrix,
                                 int first_row, int first_k, int rows, int k_total)
{
    const int threads = blockDim.x * blockDim.y;
    for (int e = threadIdx.y * blockDim.x + threadIdx.x; e < TILE_ROWS * TILE_K; e += threads) {
        const int r = e / TILE_K;
        const int k = e % TILE_K;
        const int gr = first_row + r;
        const int gk = first_k + k;
        tile[k][r] = (gr < rows && gk < k_total) ? matrix[gr * k_total + gk] : 0.0f;
    }
}

}  // namespace

template <int TM, int TN, int TK>
__global__ void gemm_nt_pipelined(const float* __restrict__ a, const float* __restrict__ b,
                                  float* __restrict__ c, int m, int n, int k)
{
    __shared__ float a_s[2][TK][TM + 1];
    __shared__ float b_s[2][TK][TN + 1];

    const int row0 = blockIdx.y * TM;
    const int col0 = blockIdx.x * TN;
    float acc[2][2] = {{0.0f, 0.0f}, {0.0f, 0.0f}};

    load_tile<TM, TK>(a_s[0], a, row0, 0, m, k);
    load_tile<TN, TK>(b_s[0], b, col0, 0, n, k);
    __syncthreads();

    int current = 0;
    for (int k0 = 0; k0 < k; k0 += TK) {
        // fetch the next tile while this one is used
        if (k0 + TK < k) {
            load_tile<TM, TK>(a_s[current ^ 1], a, row0, k0 + TK, m, k);
            load_tile<TN, TK>(b_s[current ^ 1], b, col0, k0 + TK, n, k);
        }

#pragma unroll
        for (int kk = 0; kk < TK; ++kk) {
            float af[2], bf[2];
            for (int i = 0; i < 2; ++i) {
                af[i] = a_s[current][kk][threadIdx.y * 2 + i];
                bf[i] = b_s[current][kk][threadIdx.x * 2 + i];
            }
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j)
                    acc[i][j] += af[i] * bf[j];
        }

        __syncthreads();  // one barrier a step: the other buffer is complete, this one is free
        current ^= 1;
    }

    for (int i = 0; i < 2; ++i) {
        const int row = row0 + threadIdx.y * 2 + i;
        for (int j = 0; j < 2; ++j) {
            const int col = col0 + threadIdx.x * 2 + j;
            if (row < m && col < n) c[row * n + col] = acc[i][j];
        }
    }
}
