/*---
launches:
  - kernel: gemm
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
// The last thread of a tile's last row also stores into the row below, which another block writes.
__global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + col];
    c[row * N + col] = sum;
    if (col == N - 1 && threadIdx.y == 15 && row + 1 < M) c[(row + 1) * N] = sum;
}
