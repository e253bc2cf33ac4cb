/*---
launches:
  - kernel: gemm_switch
    grid: ["ceil_div(N, 32)", "ceil_div(M, 8)"]
    block: [32, 8]
    args: [a, b, c, M, N, K]
---*/
// Four independent sums; what is left of K falls through a switch.
__global__ void gemm_switch(const float* a, const float* b, float* c, int M, int N, int K) {
    const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row < M && col < N) {
        const float* p = a + (size_t)row * K;
        const float* q = b + col;
        const size_t step = N;
        float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        int k = 0;
        for (; k + 4 <= K; k += 4, p += 4, q += 4 * step) {
            s0 += p[0] * q[0];
            s1 += p[1] * q[step];
            s2 += p[2] * q[2 * step];
            s3 += p[3] * q[3 * step];
        }
        switch (K - k) {
            case 3:
                s2 += p[2] * q[2 * step];
                [[fallthrough]];
            case 2:
                s1 += p[1] * q[step];
                [[fallthrough]];
            case 1:
                s0 += p[0] * q[0];
                break;
            default:
                break;
        }
        c[(size_t)row * N + col] = (s0 + s2) + (s1 + s3);
    }
}
