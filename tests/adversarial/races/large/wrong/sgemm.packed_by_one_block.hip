/*---
scratch: {packed: "4 * K * align_up(N, 32)"}
launches:
  - kernel: gemm
    grid: ["ceil_div(M, 4)", "ceil_div(N, 32)"]
    block: [1]
    args: [a, b, c, packed, M, N, K]
---*/
// The first block of a column of blocks packs b for all of them, in the same launch.
__global__ void gemm(const float* a, const float* b, float* c, float* packed, int M, int N, int K) {
    int n0 = blockIdx.y * 32, m0 = blockIdx.x * 4;
    float* p = packed + blockIdx.y * K * 32;
    bool large = M * N > 20000;
    if (large && blockIdx.x == 0)
        for (int i = 0; i < K * 32; ++i) p[i] = n0 + i % 32 < N ? b[i / 32 * N + n0 + i % 32] : 0;
    for (int m = m0; m < M && m < m0 + 4; ++m)
        for (int n = n0; n < N && n < n0 + 32; ++n) {
            float sum = 0.0f;
            for (int k = 0; k < K; ++k)
                sum += a[m * K + k] * (large ? p[k * 32 + n - n0] : b[k * N + n]);
            c[m * N + n] = sum;
        }
}
