/*---
launches:
  - kernel: dgemm_inside
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16, 1]
    args: [a, b, c, M, N, K]
---*/
// Products and sums in double, rounded once at the end.
using real = double;

__global__ void dgemm_inside(const float* const __restrict__ a, const float* const __restrict__ b,
                             float* const __restrict__ c, const int M, const int N, const int K) {
    __shared__ float ta[16][16], tb[16][16];
    const auto tx = threadIdx.x;
    const auto ty = threadIdx.y;
    const int n = int(blockIdx.x * 16 + tx), m = int(blockIdx.y * 16 + ty);
    real acc{0};
    for (int k = 0; k < K; k += 16) {
        const int ka = k + int(tx), kb = k + int(ty);
        ta[ty][tx] = (m < M && ka < K) ? a[size_t(m) * K + ka] : 0.f;
        tb[ty][tx] = (n < N && kb < K) ? b[size_t(kb) * N + n] : 0.f;
        __syncthreads();
        const int depth = min(16, K - k);
        for (int e = 0; e < depth; ++e) acc += real(ta[ty][e]) * real(tb[e][tx]);
        __syncthreads();
    }
    if (m < M && n < N) c[size_t(m) * N + n] = static_cast<float>(acc);
}
