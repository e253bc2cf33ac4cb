/*---
launches:
  - kernel: sgemm_vec<true>
    when: "K % 4 == 0 and N % 4 == 0"
    grid: ["ceil_div(N, 64)", "ceil_div(M, 64)"]
    block: [64]
    args: [a, b, c, M, N, K]
  - kernel: sgemm_vec<false>
    when: "K % 4 != 0 or N % 4 != 0"
    grid: ["ceil_div(N, 64)", "ceil_div(M, 64)"]
    block: [64]
    args: [a, b, c, M, N, K]
---*/
// 64 x 64 outputs by one wavefront of AMD's size, 8 x 8 a thread. Rows whose length is a multiple
// of four are read four elements at once; a is transposed on its way into LDS.
#define BM 64
#define BN 64
#define BK 8

template <bool VEC>
__device__ __forceinline__ float4 load4(const float* row, int at, int size) {
    if constexpr (VEC) {
        if (at < size) return *reinterpret_cast<const float4*>(row + at);
        return make_float4(0.f, 0.f, 0.f, 0.f);
    } else {
        float4 v;
        v.x = at + 0 < size ? row[at + 0] : 0.f;
        v.y = at + 1 < size ? row[at + 1] : 0.f;
        v.z = at + 2 < size ? row[at + 2] : 0.f;
        v.w = at + 3 < size ? row[at + 3] : 0.f;
        return v;
    }
}

template <bool VEC>
__global__ __launch_bounds__(64) void sgemm_vec(const float* __restrict__ a,
                                                const float* __restrict__ b,
                                                float* __restrict__ c, int M, int N, int K) {
    __shared__ __align__(16) float As[BK][BM];
    __shared__ __align__(16) float Bs[BK][BN];
    const int t = threadIdx.x;
    const int tr = t / 8 * 8, tc = t % 8 * 8;
    const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    float acc[8][8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) acc[i][j] = 0.f;

    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = t; i < BM * BK / 4; i += 64) {
            const int r = i / 2, k = i % 2 * 4;
            float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
            if (m0 + r < M) v = load4<VEC>(a + (size_t)(m0 + r) * K, k0 + k, K);
            As[k + 0][r] = v.x;
            As[k + 1][r] = v.y;
            As[k + 2][r] = v.z;
            As[k + 3][r] = v.w;
        }
        for (int i = t; i < BK * BN / 4; i += 64) {
            const int k = i / 16, n = i % 16 * 4;
            float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
            if (k0 + k < K) v = load4<VEC>(b + (size_t)(k0 + k) * N, n0 + n, N);
            *reinterpret_cast<float4*>(&Bs[k][n]) = v;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float ra[8], rb[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) ra[i] = As[k][tr + i];
#pragma unroll
            for (int j = 0; j < 8; ++j) rb[j] = Bs[k][tc + j];
#pragma unroll
            for (int i = 0; i < 8; ++i)
#pragma unroll
                for (int j = 0; j < 8; ++j) acc[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i) {
        const int row = m0 + tr + i;
        if (row >= M) break;
        for (int j = 0; j < 8; ++j)
            if (n0 + tc + j < N) c[(size_t)row * N + n0 + tc + j] = acc[i][j];
    }
}
