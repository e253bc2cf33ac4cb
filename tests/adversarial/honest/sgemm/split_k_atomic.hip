/*---
launches:
  - {memset: {buffer: c, byte: 0}}
  - kernel: gemm_atomic
    grid: ["ceil_div(N, 64)", "ceil_div(M, 8)", "ceil_div(K, 128)"]
    block: [64]
    args: [a, b, c, M, N, K]
---*/
// Every block takes 128 of K for 8 rows and 64 columns, and adds what it has to c by atomics.
__global__ void gemm_atomic(const float* a, const float* b, float* c, int M, int N, int K) {
    int col = blockIdx.x * 64 + threadIdx.x;
    int row0 = blockIdx.y * 8;
    int kBegin = blockIdx.z * 128;
    int kEnd = kBegin + 128 < K ? kBegin + 128 : K;
    if (col >= N) return;
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int k = kBegin; k < kEnd; ++k) {
        float bk = b[(size_t)k * N + col];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            int row = row0 + i < M ? row0 + i : M - 1;
            sum[i] += a[(size_t)row * K + k] * bk;
        }
    }
    for (int i = 0; i < 8 && row0 + i < M; ++i) {
        atomicAdd(&c[(size_t)(row0 + i) * N + col], sum[i]);
    }
}
