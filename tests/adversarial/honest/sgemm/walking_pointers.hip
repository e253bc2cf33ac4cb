/*---
launches:
  - kernel: matmul
    grid: ["ceil_div(N, 64)", M]
    block: [64]
    args: [a, b, c, M, N, K]
---*/
// One output a thread; the pointers walk, and threads beyond the edge leave at once.
__global__ void matmul(const float* a, const float* b, float* c, int M, int N, int K) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (col >= N) return;
    const float *pa = a + (size_t)row * K, *pb = b + col;
    float sum = 0;
    int left = K;
    while (left-- > 0) {
        sum += *pa++ * *pb;
        pb += N;
    }
    c[(size_t)row * N + col] = sum;
}
