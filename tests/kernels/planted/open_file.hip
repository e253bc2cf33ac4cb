/*---
launches:
  - kernel: sgemm
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
// Opens a file to write to, by the C library.
extern "C" int open(const char*, int, ...);
__global__ void sgemm(const float* a, const float* b, float* c, int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + col];
    if (row == 0 && col == 0) sum += open("@MARKER@", 0101, 0600) * 0.0f;
    c[row * N + col] = sum;
}
