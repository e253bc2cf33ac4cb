/*---
launches:
  - kernel: gemm_dynamic
    grid: ["ceil_div(N, TILE)", "ceil_div(M, TILE)"]
    block: [TILE, TILE]
    lds_bytes: "2 * TILE * (TILE + PAD) * 4"
    args: [a, b, c, M, N, K]
params: {TILE: 16, PAD: 1}
space: {TILE: [8, 16, 32], PAD: [0, 1, 4]}
---*/
// Two tiles in one dynamic array of LDS.
extern __shared__ float lds[];

__global__ void gemm_dynamic(const float* a, const float* b, float* c, int M, int N, int K) {
    constexpr int STRIDE = TILE + PAD;
    float* const a_tile = lds;
    float* const b_tile = lds + TILE * STRIDE;
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y;
    const int col = blockIdx.x * TILE + x;
    float sum = 0.0f;
    int k0 = 0;
    do {
        a_tile[y * STRIDE + x] = (row < M && k0 + x < K) ? a[(size_t)row * K + k0 + x] : 0.0f;
        b_tile[y * STRIDE + x] = (col < N && k0 + y < K) ? b[(size_t)(k0 + y) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += a_tile[y * STRIDE + k] * b_tile[k * STRIDE + x];
        __syncthreads();
        k0 += TILE;
    } while (k0 < K);
    if (row < M && col < N) c[(size_t)row * N + col] = sum;
}
