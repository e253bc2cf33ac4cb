/*---
launches:
  - kernel: gemm_steps
    grid: ["ceil_div(N, 64)", "ceil_div(M, 16)"]
    block: [64]
    args: [a, b, c, M, N, K]
---*/
// The steps are device functions that take arrays of registers by reference and hold barriers.
#define MT 16
#define KT 32

__device__ void stage(float (&tile)[KT][MT + 1], const float* a, int m0, int k0, int M, int K) {
    __syncthreads();
    for (int i = threadIdx.x; i < MT * KT; i += 64) {
        const int m = i / KT, k = i % KT;
        tile[k][m] = m0 + m < M && k0 + k < K ? a[(size_t)(m0 + m) * K + k0 + k] : 0.0f;
    }
    __syncthreads();
}

__device__ void step(float (&sums)[MT], float (&tile)[KT][MT + 1], const float* a, const float* b,
                     int m0, int k0, int col, int M, int N, int K) {
    stage(tile, a, m0, k0, M, K);
    const int depth = K - k0 < KT ? K - k0 : KT;
    for (int k = 0; k < depth; ++k) {
        const float v = col < N ? b[(size_t)(k0 + k) * N + col] : 0.0f;
        for (int m = 0; m < MT; ++m) sums[m] += tile[k][m] * v;
    }
}

__global__ void gemm_steps(const float* a, const float* b, float* c, int M, int N, int K) {
    __shared__ float tile[KT][MT + 1];
    float sums[MT] = {};
    const int col = blockIdx.x * 64 + threadIdx.x;
    const int m0 = blockIdx.y * MT;
    for (int k0 = 0; k0 < K; k0 += KT) step(sums, tile, a, b, m0, k0, col, M, N, K);
    if (col < N) {
        for (int m = 0; m < MT && m0 + m < M; ++m) c[(size_t)(m0 + m) * N + col] = sums[m];
    }
}
