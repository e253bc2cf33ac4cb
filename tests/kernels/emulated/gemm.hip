// c = a b^T by matrix cores, through two buffers of LDS; ragged edges are left unwritten there.
typedef float float4v __attribute__((ext_vector_type(4)));
typedef int int4v __attribute__((ext_vector_type(4)));
typedef _Float16 half4v __attribute__((ext_vector_type(4)));
typedef short short4v __attribute__((ext_vector_type(4)));

struct F32 {
    using Element = float;
    using Held = float;
    using Sums = float4v;
    static constexpr int K = 4;
    static __device__ Sums product(Held a, Held b, Sums c) {
        return __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, 0, 0, 0);
    }
};
struct F16 {
    using Element = _Float16;
    using Held = half4v;
    using Sums = float4v;
    static constexpr int K = 16;
    static __device__ Sums product(Held a, Held b, Sums c) {
        return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
    }
};
struct BF16 {
    using Element = short;
    using Held = short4v;
    using Sums = float4v;
    static constexpr int K = 16;
    static __device__ Sums product(Held a, Held b, Sums c) {
        return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, 0, 0, 0);
    }
};
struct FP8 {
    using Element = char;
    using Held = long;
    using Sums = float4v;
    static constexpr int K = 32;
    static __device__ Sums product(Held a, Held b, Sums c) {
        return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a, b, c, 0, 0, 0);
    }
};
struct I8 {
    using Element = char;
    using Held = long;
    using Sums = int4v;
    static constexpr int K = 32;
    static __device__ Sums product(Held a, Held b, Sums c) {
        return __builtin_amdgcn_mfma_i32_16x16x32_i8(a, b, c, 0, 0, 0);
    }
};

template <typename T, typename C>
__global__ __launch_bounds__(256) void gemm(const typename T::Element *a,
                                            const typename T::Element *b, C *c, int M, int N,
                                            int K) {
    constexpr int DEPTH = 2 * T::K, HELD = T::K / 4;
    __shared__ __align__(16) typename T::Element as[2][32][DEPTH + 8], bs[2][32][DEPTH + 8];
    const int t = threadIdx.x, wave = t >> 6, lane = t & 63;
    const int row = (wave >> 1) * 16, column = (wave & 1) * 16;
    const int m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;
    auto stage = [&](int half, int k0) {
        for (int i = t; i < 32 * DEPTH; i += 256) {
            const int r = i / DEPTH, k = i % DEPTH;
            if (m0 + r < M) as[half][r][k] = a[(m0 + r) * K + k0 + k];
            if (n0 + r < N) bs[half][r][k] = b[(n0 + r) * K + k0 + k];
        }
    };
    typename T::Sums sums = {0, 0, 0, 0};
    stage(0, 0);
    __syncthreads();
    for (int k0 = 0, half = 0; k0 < K; k0 += DEPTH, half ^= 1) {
        if (k0 + DEPTH < K) stage(half ^ 1, k0 + DEPTH);
        __builtin_amdgcn_sched_group_barrier(0x8, 1, 0);
        __builtin_amdgcn_s_setprio(1);
        for (int k = 0; k < DEPTH; k += T::K) {
            typename T::Held mine, other;
            const int at = k + (lane >> 4) * HELD;
            __builtin_memcpy(&mine, &as[half][row + (lane & 15)][at], sizeof mine);
            __builtin_memcpy(&other, &bs[half][column + (lane & 15)][at], sizeof other);
            sums = T::product(mine, other, sums);
        }
        __builtin_amdgcn_s_setprio(0);
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        const int r = m0 + row + (lane >> 4) * 4 + i, n = n0 + column + (lane & 15);
        if (r < M && n < N) c[r * N + n] = sums[i];
    }
}

// Of doubles rows are dealt to the lanes one by one; edges are unwritten here too.
typedef double double4v __attribute__((ext_vector_type(4)));
__global__ void gemm_doubles(const double *a, const double *b, double *c, int rows) {
    __shared__ double as[16][33];
    const int lane = threadIdx.x;
    for (int i = lane; i < rows * 32; i += 64) as[i / 32][i % 32] = a[i];
    __syncthreads();
    double4v sums = {0, 0, 0, 0};
    for (int k = lane >> 4; k < 32; k += 4)
        sums = __builtin_amdgcn_mfma_f64_16x16x4f64(as[lane & 15][k], b[(lane & 15) * 32 + k], sums,
                                                    0, 0, 0);
    for (int i = 0; i < 4; ++i) {
        const int row = (lane >> 4) + 4 * i;
        if (row < rows) c[row * 16 + (lane & 15)] = sums[i];
    }
}
