/*---
launches:
  - kernel: gemm
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
// Each row of a tile is stored with one element more, which the next block writes as well.
__global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + col];
    c[row * N + col] = sum;
    if (threadIdx.x == 15 && col + 1 < N) c[row * N + col + 1] = sum;
}
