/*---
launches:
  - kernel: gemm_endless
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
// An endless loop with continue and break round its barriers; all threads agree.
__global__ void gemm_endless(const float* a, const float* b, float* c, int M, int N, int K) {
    __shared__ float lds_a[16][17], lds_b[16][17];
    const int x = threadIdx.x, y = threadIdx.y;
    const int m = blockIdx.y * 16 + y, n = blockIdx.x * 16 + x;
    float sum = 0.0f;
    int k = -16;
    for (;;) {
        k += 16;
        if (k >= K) break;
        lds_a[y][x] = m < M && k + x < K ? a[(size_t)m * K + k + x] : 0.0f;
        lds_b[y][x] = n < N && k + y < K ? b[(size_t)(k + y) * N + n] : 0.0f;
        __syncthreads();
        if (k + 16 <= K) {
#pragma unroll
            for (int i = 0; i < 16; ++i) sum += lds_a[y][i] * lds_b[i][x];
            __syncthreads();
            continue;
        }
        for (int i = 0; i < K - k; ++i) sum += lds_a[y][i] * lds_b[i][x];
        __syncthreads();
    }
    if (m < M && n < N) c[(size_t)m * N + n] = sum;
}
