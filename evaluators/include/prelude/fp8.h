/* HIP's 8-bit numbers, one, two or four at a time, in software; arithmetic is in float32.
 *
 * e4m3 and e5m2 are OCP's formats, NVIDIA's and MI350's; those in fnuz are MI300's: the bias is one
 * more, there is one NaN (0x80), neither infinity nor -0. Conversion rounds to nearest even. Larger
 * numbers give the largest; where saturation is off NaN, or infinity in e5m2. Infinity and NaN stay
 * what they are, or NaN, as in AMD's header. */
#ifndef KS_FP8_H
#define KS_FP8_H

#include "numbers.h"

/* A format: mantissa bits, the exponent's bias, whether it is one of fnuz, its largest number. */
template <int M, int BIAS, bool FNUZ, unsigned MOST> struct KsFp8 {
    static KS_MEMBER float to_float(unsigned char value) {
        const unsigned magnitude = value & 0x7F, sign = (unsigned)(value & 0x80) << 24;
        const float small = (float)(magnitude & ((1u << M) - 1)) * scale(1 - BIAS - M);
        unsigned bits = magnitude >> M ? (magnitude << (23 - M)) + ((127 - BIAS) << 23)
                                       : __float_as_uint(small);
        if (FNUZ) return __uint_as_float(value == 0x80 ? 0x7FC00000u : bits | sign);
        const bool infinite = magnitude == MOST + 1 && M == 2;
        if (magnitude > MOST) bits = infinite ? 0x7F800000u : 0x7FC00000u;
        return __uint_as_float(bits | sign);
    }
    static KS_MEMBER unsigned char from_float(float value, bool saturate) {
        const unsigned bits = __float_as_uint(value), magnitude = bits & 0x7FFFFFFFu;
        const unsigned half = (1u << (22 - M)) - 1, odd = magnitude >> (23 - M) & 1;
        const unsigned normal = (magnitude - ((127 - BIAS) << 23) + half + odd) >> (23 - M);
        /* subnormal ones are multiples of a power of two: adding 2^23 of them rounds */
        const float multiples = scale(24 - BIAS - M);
        const unsigned small =
            __float_as_uint(__uint_as_float(magnitude) + multiples) - __float_as_uint(multiples);
        const unsigned beyond = FNUZ ? 0x80u : MOST + 1;
        unsigned result = magnitude < ((128u - BIAS) << 23) ? small : normal;
        if (magnitude >= ((127u + 31) << 23) || result > MOST) result = saturate ? MOST : beyond;
        const unsigned none = FNUZ ? 0x80 : 0x7F;
        if (magnitude >= 0x7F800000u) result = magnitude == 0x7F800000u ? beyond : none;
        const unsigned sign = FNUZ && (result == 0 || result == 0x80) ? 0 : bits >> 24 & 0x80u;
        return (unsigned char)(result | sign);
    }
    static KS_MEMBER float scale(int exponent) {
        return __uint_as_float((unsigned)(exponent + 127) << 23);
    }
};
typedef KsFp8<3, 7, false, 0x7E> KsE4m3;
typedef KsFp8<2, 15, false, 0x7B> KsE5m2;
#ifndef KS_E4M3_FNUZ_GIVEN
typedef KsFp8<3, 8, true, 0x7F> KsE4m3Fnuz;
#endif
typedef KsFp8<2, 16, true, 0x7F> KsE5m2Fnuz;

#define KS_FP8(e, Format)                                                                          \
    struct __hip_fp8_##e {                                                                         \
        __hip_fp8_storage_t __x;                                                                   \
        __hip_fp8_##e() = default;                                                                 \
        template <typename T, typename = KsOnlyIf<ks_is_number<T>, T>>                             \
        KS_MEMBER __hip_fp8_##e(T value) : __x(Format::from_float((float)value, true)) {}          \
        KS_MEMBER __hip_fp8_##e(__half value) : __x(Format::from_float((float)value, true)) {}     \
        KS_MEMBER __hip_fp8_##e(__hip_bfloat16 value)                                              \
            : __x(Format::from_float((float)value, true)) {}                                       \
        KS_MEMBER operator float() const { return Format::to_float(__x); }                         \
    };                                                                                             \
    struct alignas(2) __hip_fp8x2_##e {                                                            \
        __hip_fp8x2_storage_t __x;                                                                 \
        __hip_fp8x2_##e() = default;                                                               \
        KS_MEMBER __hip_fp8x2_##e(float2 v)                                                        \
            : __x((__hip_fp8x2_storage_t)(Format::from_float(v.x, true) |                          \
                                          Format::from_float(v.y, true) << 8)) {}                  \
        KS_MEMBER __hip_fp8x2_##e(__half2 v) : __hip_fp8x2_##e(__half22float2(v)) {}               \
        KS_MEMBER operator float2() const {                                                        \
            return float2{Format::to_float((unsigned char)__x),                                    \
                          Format::to_float((unsigned char)(__x >> 8))};                            \
        }                                                                                          \
    };                                                                                             \
    struct alignas(4) __hip_fp8x4_##e {                                                            \
        __hip_fp8x4_storage_t __x;                                                                 \
        __hip_fp8x4_##e() = default;                                                               \
        KS_MEMBER __hip_fp8x4_##e(float4 v)                                                        \
            : __x(Format::from_float(v.x, true) | Format::from_float(v.y, true) << 8 |             \
                  Format::from_float(v.z, true) << 16 |                                            \
                  (unsigned)Format::from_float(v.w, true) << 24) {}                                \
        KS_MEMBER operator float4() const {                                                        \
            return float4{Format::to_float((unsigned char)__x),                                    \
                          Format::to_float((unsigned char)(__x >> 8)),                             \
                          Format::to_float((unsigned char)(__x >> 16)),                            \
                          Format::to_float((unsigned char)(__x >> 24))};                           \
        }                                                                                          \
    };
KS_FP8(e4m3, KsE4m3)
KS_FP8(e5m2, KsE5m2)
#ifndef KS_FNUZ_GIVEN /* AMD's header has them, for a target that converts them by itself */
KS_FP8(e4m3_fnuz, KsE4m3Fnuz)
KS_FP8(e5m2_fnuz, KsE5m2Fnuz)
#endif

#endif
