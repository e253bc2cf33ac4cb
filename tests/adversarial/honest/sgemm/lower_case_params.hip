/*---
launches:
  - kernel: gemm_tuned
    grid: ["ceil_div(N, block_n)", "ceil_div(M, block_m)"]
    block: [block_n, block_m]
    args: [a, b, c, M, N, K]
params: {block_m: 8, block_n: 32, unroll_by: 4}
space: {block_m: [4, 8, 16], block_n: [16, 32, 64]}
---*/
// Parameters in lower case, as kernels for other tuners have them.
__global__ void gemm_tuned(const float* a, const float* b, float* c, int M, int N, int K) {
    const int col = blockIdx.x * block_n + threadIdx.x;
    const int row = blockIdx.y * block_m + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
#pragma unroll unroll_by
    for (int k = 0; k < K; ++k) sum += a[(size_t)row * K + k] * b[(size_t)k * N + col];
    c[(size_t)row * N + col] = sum;
}
