/*---
launches:
  - kernel: sgemm
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
// Counts up to a number that a float never reaches by ones.
__global__ void sgemm(const float* a, const float* b, float* c, int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    c[row * N + col] = 0.0f;
    while (c[row * N + col] < 1e30f) c[row * N + col] += 1.0f;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + col];
    c[row * N + col] = sum;
}
