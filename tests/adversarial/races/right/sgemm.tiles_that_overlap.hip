/*---
launches:
  - kernel: gemm
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
// The last tiles move back over their neighbours, which sum the other way round.
__global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
    int col = min(blockIdx.x * 16, max(N - 16, 0)) + threadIdx.x;
    int row = min(blockIdx.y * 16, max(M - 16, 0)) + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int i = 0; i < K; ++i) {
        int k = blockIdx.x % 2 ? i : K - 1 - i;
        sum += a[row * K + k] * b[k * N + col];
    }
    c[row * N + col] = sum;
}
