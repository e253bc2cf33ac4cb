// c = a b^T of fp8 (e4m3fnuz) on one wavefront's matrix core: a and b are 32 x K, K a multiple of
// 16. Planted: 1 rows of the sums as if they were those of 16x16, 2 k of a's halves exchanged,
// 3 the other format for both, 4 for b.
#ifndef PLANTED
#define PLANTED 0
#endif
typedef float Sums __attribute__((ext_vector_type(16)));

extern "C" __global__ void mfma_tile(const unsigned char* a, const unsigned char* b, float* c,
                                     int K) {
    int line = threadIdx.x % 32, half = threadIdx.x / 32;
    Sums sums = {0};
    for (int k = 0; k < K; k += 16) {
#if PLANTED == 2
        long from_a = *(const long*)(a + line * K + k + 8 * (1 - half));
#else
        long from_a = *(const long*)(a + line * K + k + 8 * half);
#endif
        long from_b = *(const long*)(b + line * K + k + 8 * half);
#if PLANTED == 3
        sums = __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(from_a, from_b, sums, 0, 0, 0);
#elif PLANTED == 4
        sums = __builtin_amdgcn_mfma_f32_32x32x16_fp8_bf8(from_a, from_b, sums, 0, 0, 0);
#else
        sums = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(from_a, from_b, sums, 0, 0, 0);
#endif
    }
    for (int e = 0; e < 16; ++e) {
#if PLANTED == 1
        int row = 16 * half + e;
#else
        int row = 8 * (e / 4) + 4 * half + e % 4;
#endif
        c[row * 32 + line] = sums[e];
    }
}
