/*---
launches:
  - kernel: strip
    grid: ["ceil_div(N, 128)", "ceil_div(M, ROWS)"]
    block: [128]
    args: [a, b, c, M, N, K]
params: {ROWS: 8, CHUNK: 64}
space: {ROWS: [4, 8, 16], CHUNK: [32, 64, 128]}
---*/
// A block has ROWS rows and 128 columns; a's part is broadcast through LDS.
__global__ void __launch_bounds__(128) strip(const float* a, const float* b, float* c, int M,
                                             int N, int K) {
    __shared__ float rows_of_a[ROWS][CHUNK];
    const int col = blockIdx.x * 128 + threadIdx.x;
    const int row0 = blockIdx.y * ROWS;
    const bool inside = col < N;
    float sum[ROWS];
    for (int r = 0; r < ROWS; ++r) sum[r] = 0.0f;

    for (int k0 = 0; k0 < K; k0 += CHUNK) {
        const int depth = min(CHUNK, K - k0);
        __syncthreads();
        for (int i = threadIdx.x; i < ROWS * CHUNK; i += blockDim.x) {
            const int r = i / CHUNK, k = i % CHUNK;
            rows_of_a[r][k] = row0 + r < M && k < depth ? a[(size_t)(row0 + r) * K + k0 + k] : 0.0f;
        }
        __syncthreads();
        if (inside) {
            for (int k = 0; k < depth; ++k) {
                const float v = b[(size_t)(k0 + k) * N + col];
#pragma unroll
                for (int r = 0; r < ROWS; ++r) sum[r] += rows_of_a[r][k] * v;
            }
        }
    }
    if (!inside) return;
    for (int r = 0; r < ROWS && row0 + r < M; ++r) c[(size_t)(row0 + r) * N + col] = sum[r];
}
