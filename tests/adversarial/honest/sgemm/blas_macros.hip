/*---
launches:
  - kernel: mysgemm
    grid: ["ceil_div(M, 32)", "ceil_div(N, 32)"]
    block: [256]
    args: [M, N, K, a, b, c]
---*/
// Macros for every access, one thread a 2 x 2 micro tile.
#define A(i, j) A[(i) * lda + (j)]
#define B(i, j) B[(i) * ldb + (j)]
#define C(i, j) C[(i) * ldc + (j)]
#define sa(i, j) sa[((i) << 5) + (j)]
#define sb(i, j) sb[((i) << 5) + (j)]
#define MS 32
#define KS 16
#define LOAD_OR_ZERO(ok, value) ((ok) ? (value) : 0.f)

__global__ __launch_bounds__(256) void mysgemm(int M, int N, int K, const float* A, const float* B,
                                               float* C) {
    int lda = K, ldb = N, ldc = N;
    int tx = threadIdx.x;
    int bx = blockIdx.x, by = blockIdx.y;
    int r = (tx & 15) << 1, q = (tx >> 4) << 1;
    __shared__ float sa[MS * KS], sb[KS * MS];
    float c00 = 0.f, c01 = 0.f, c10 = 0.f, c11 = 0.f;
    for (int k_count = 0; k_count < K; k_count += KS) {
        for (int e = tx; e < MS * KS; e += 256) {
            int kk = e & 15, mm = e >> 4;
            int k2 = e >> 5, nn = e & 31;
            sa(kk, mm) = LOAD_OR_ZERO(bx * MS + mm < M && k_count + kk < K,
                                      A(bx * MS + mm, k_count + kk));
            sb(k2, nn) = LOAD_OR_ZERO(by * MS + nn < N && k_count + k2 < K,
                                      B(k_count + k2, by * MS + nn));
        }
        __syncthreads();
        #pragma unroll
        for (int inner = 0; inner < KS; inner++) {
            float a0 = sa(inner, q), a1 = sa(inner, q + 1);
            float b0 = sb(inner, r), b1 = sb(inner, r + 1);
            c00 += a0 * b0; c01 += a0 * b1;
            c10 += a1 * b0; c11 += a1 * b1;
        }
        __syncthreads();
    }
    int m = bx * MS + q, n = by * MS + r;
    if (m < M && n < N) C(m, n) = c00;
    if (m < M && n + 1 < N) C(m, n + 1) = c01;
    if (m + 1 < M && n < N) C(m + 1, n) = c10;
    if (m + 1 < M && n + 1 < N) C(m + 1, n + 1) = c11;
}
