/* __hip_fp8_e4m3_fnuz, MI300's 8-bit number, and its vectors; arithmetic is in float32.
 *
 * Bias 8, largest 240, one NaN (0x80), neither infinity nor -0. Conversion rounds to nearest even;
 * infinity and NaN give NaN, larger numbers the largest (or NaN where saturation is off), as in
 * AMD's header. */
#ifndef KS_HIP_FP8_H
#define KS_HIP_FP8_H

#include "hip_runtime.h"
#include "hip_fp16.h"

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;
enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 };
enum __hip_fp8_interpretation_t { __HIP_E4M3_FNUZ = 2 };

#ifndef KS_FP8_BUILT_IN
KS_INLINE float ks_fp8_to_float(unsigned char value) {
    /* times 2^119 moves the exponent's bias from 8 to 127, and normalises subnormals */
    float magnitude = __uint_as_float((unsigned)(value & 0x7F) << 20) * 0x1p119f;
    unsigned bits = __float_as_uint(magnitude) | (unsigned)(value & 0x80) << 24;
    return __uint_as_float(value == 0x80 ? 0x7FC00000u : bits);
}

KS_INLINE unsigned char ks_float_to_fp8(float value, bool saturate) {
    unsigned bits = __float_as_uint(value), magnitude = bits & 0x7FFFFFFFu;
    unsigned normal = (magnitude - 0x3B800000u + 0x7FFFFu + (magnitude >> 20 & 1)) >> 20;
    /* subnormal ones are multiples of 2^-10: adding 2^13 leaves them in the last bits, rounded */
    unsigned small = __float_as_uint(__uint_as_float(magnitude) + 0x1p13f) - 0x46000000u;
    unsigned result = magnitude < 0x3C000000u ? small : normal;
    result = magnitude >= 0x43780000u ? (saturate ? 0x7Fu : 0x80u) : result; /* 248 and more */
    unsigned sign = result != 0 ? bits >> 24 & 0x80u : 0;
    return (unsigned char)(magnitude >= 0x7F800000u ? 0x80u : result | sign);
}
#endif

struct __hip_fp8_e4m3_fnuz {
    __hip_fp8_storage_t __x;
    __hip_fp8_e4m3_fnuz() = default;
    KS_MEMBER __hip_fp8_e4m3_fnuz(float value) : __x(ks_float_to_fp8(value, true)) {}
    KS_MEMBER __hip_fp8_e4m3_fnuz(double value) : __x(ks_float_to_fp8((float)value, true)) {}
    KS_MEMBER __hip_fp8_e4m3_fnuz(int value) : __x(ks_float_to_fp8((float)value, true)) {}
    KS_MEMBER __hip_fp8_e4m3_fnuz(__half value) : __x(ks_float_to_fp8(value, true)) {}
    KS_MEMBER operator float() const { return ks_fp8_to_float(__x); }
};

struct alignas(2) __hip_fp8x2_e4m3_fnuz {
    __hip_fp8x2_storage_t __x;
    __hip_fp8x2_e4m3_fnuz() = default;
    KS_MEMBER __hip_fp8x2_e4m3_fnuz(float2 v)
        : __x(ks_float_to_fp8(v.x, true) | ks_float_to_fp8(v.y, true) << 8) {}
    KS_MEMBER operator float2() const {
        return {ks_fp8_to_float((unsigned char)__x), ks_fp8_to_float((unsigned char)(__x >> 8))};
    }
};

struct alignas(4) __hip_fp8x4_e4m3_fnuz {
    __hip_fp8x4_storage_t __x;
    __hip_fp8x4_e4m3_fnuz() = default;
    KS_MEMBER __hip_fp8x4_e4m3_fnuz(float4 v)
        : __x(ks_float_to_fp8(v.x, true) | ks_float_to_fp8(v.y, true) << 8 |
              ks_float_to_fp8(v.z, true) << 16 | (unsigned)ks_float_to_fp8(v.w, true) << 24) {}
    KS_MEMBER operator float4() const {
        return {ks_fp8_to_float((unsigned char)__x), ks_fp8_to_float((unsigned char)(__x >> 8)),
                ks_fp8_to_float((unsigned char)(__x >> 16)),
                ks_fp8_to_float((unsigned char)(__x >> 24))};
    }
};

KS_INLINE __hip_fp8_storage_t __hip_cvt_float_to_fp8(float value, __hip_saturation_t saturation,
                                                     __hip_fp8_interpretation_t) {
    return ks_float_to_fp8(value, saturation == __HIP_SATFINITE);
}
KS_INLINE __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t value,
                                              __hip_fp8_interpretation_t) {
    return {ks_float_to_half(ks_fp8_to_float(value))};
}

#endif
