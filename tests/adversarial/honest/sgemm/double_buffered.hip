/*---
launches:
  - kernel: gemm_db
    grid: ["ceil_div(N, 32)", "ceil_div(M, 32)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
// Two buffers in LDS: while one is multiplied the other is filled, with one barrier a step.
#define T 32
#define DEPTH 16

__global__ void gemm_db(const float* a, const float* b, float* c, int M, int N, int K) {
    __shared__ float as[2][DEPTH][T + 1];
    __shared__ float bs[2][DEPTH][T];
    int tid = threadIdx.y * 16 + threadIdx.x;
    int mBase = blockIdx.y * T, nBase = blockIdx.x * T;
    float c00 = 0, c01 = 0, c10 = 0, c11 = 0;
    int steps = (K + DEPTH - 1) / DEPTH;
    int buf = 0;

    for (int i = tid; i < T * DEPTH; i += 256) {
        int m = mBase + i / DEPTH, ka = i % DEPTH;
        int kb = i / T, n = nBase + i % T;
        as[0][i % DEPTH][i / DEPTH] = (m < M && ka < K) ? a[m * K + ka] : 0;
        bs[0][i / T][i % T] = (kb < K && n < N) ? b[kb * N + n] : 0;
    }
    __syncthreads();

    for (int s = 0; s < steps; ++s) {
        int next = buf ^ 1;
        if (s + 1 < steps) {
            int k0 = (s + 1) * DEPTH;
            for (int i = tid; i < T * DEPTH; i += 256) {
                int m = mBase + i / DEPTH, ka = k0 + i % DEPTH;
                int kb = k0 + i / T, n = nBase + i % T;
                as[next][i % DEPTH][i / DEPTH] = (m < M && ka < K) ? a[m * K + ka] : 0;
                bs[next][i / T][i % T] = (kb < K && n < N) ? b[kb * N + n] : 0;
            }
        }
        for (int k = 0; k < DEPTH; ++k) {
            float a0 = as[buf][k][threadIdx.y], a1 = as[buf][k][threadIdx.y + 16];
            float b0 = bs[buf][k][threadIdx.x], b1 = bs[buf][k][threadIdx.x + 16];
            c00 += a0 * b0;
            c01 += a0 * b1;
            c10 += a1 * b0;
            c11 += a1 * b1;
        }
        __syncthreads();
        buf = next;
    }

    int m = mBase + threadIdx.y, n = nBase + threadIdx.x;
    if (m < M && n < N) c[m * N + n] = c00;
    if (m < M && n + 16 < N) c[m * N + n + 16] = c01;
    if (m + 16 < M && n < N) c[(m + 16) * N + n] = c10;
    if (m + 16 < M && n + 16 < N) c[(m + 16) * N + n + 16] = c11;
}
