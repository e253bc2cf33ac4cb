// fp8 (e4m3fnuz) to float32, and float32 to fp8. Planted: 1 values as OCP's format of the same name
// has them, 2 the format with five bits of exponent.
#include <hip/hip_fp8.h>
#ifndef PLANTED
#define PLANTED 0
#endif
#if PLANTED == 2
typedef __hip_fp8_e5m2_fnuz Fp8;
#else
typedef __hip_fp8_e4m3_fnuz Fp8;
#endif

__device__ float value_of(Fp8 one) {
#if PLANTED == 1
    int exponent = one.__x >> 3 & 15, mantissa = one.__x & 7;
    float size = exponent ? ldexpf(8 + mantissa, exponent - 10) : ldexpf(mantissa, -9);
    return one.__x & 128 ? -size : size;
#else
    return float(one);
#endif
}

extern "C" __global__ void fp8_values(const Fp8* bytes, float* values, const float* given,
                                      Fp8* rounded, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    values[i] = value_of(bytes[i % 256]);
    rounded[i] = Fp8(given[i]);
}
