/* __hip_bfloat16 and its pair: stored in 16 bits, computed in float32, rounded to nearest even. */
#ifndef KS_HIP_BF16_H
#define KS_HIP_BF16_H

#include "hip_runtime.h"
#include "../ks/half_bits.h"

struct __hip_bfloat16_raw { unsigned short x; };

#define KS_TYPE __hip_bfloat16
#define KS_RAW __hip_bfloat16_raw
#define KS_TO_FLOAT ks_bfloat16_to_float
#define KS_FROM_FLOAT ks_float_to_bfloat16
#include "../ks/short_float.h"

struct alignas(4) __hip_bfloat162 {
    __hip_bfloat16 x, y;
    __hip_bfloat162() = default;
    KS_MEMBER __hip_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) : x(x), y(y) {}
};
typedef __hip_bfloat16 hip_bfloat16;
#define KS_PAIR __hip_bfloat162
#include "../ks/short_float_pair.h"

KS_INLINE __hip_bfloat16 __float2bfloat16(float x) { return __hip_bfloat16(x); }
KS_INLINE __hip_bfloat16 __float2bfloat16_rn(float x) { return __hip_bfloat16(x); }
KS_INLINE __hip_bfloat16 __double2bfloat16(double x) { return __hip_bfloat16((float)x); }
KS_INLINE __hip_bfloat16 __int2bfloat16_rn(int x) { return __hip_bfloat16((float)x); }
KS_INLINE float __bfloat162float(__hip_bfloat16 x) { return x; }
KS_INLINE unsigned short __bfloat16_as_ushort(__hip_bfloat16 x) {
    return ks_bits<unsigned short>(x);
}
KS_INLINE short __bfloat16_as_short(__hip_bfloat16 x) { return ks_bits<short>(x); }
KS_INLINE __hip_bfloat16 __ushort_as_bfloat16(unsigned short x) {
    return ks_bits<__hip_bfloat16>(x);
}
KS_INLINE __hip_bfloat16 __short_as_bfloat16(short x) { return ks_bits<__hip_bfloat16>(x); }

KS_INLINE __hip_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
KS_INLINE __hip_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
KS_INLINE __hip_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
KS_INLINE float2 __bfloat1622float2(__hip_bfloat162 v) { return {v.x, v.y}; }
KS_INLINE __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 x) { return {x, x}; }
KS_INLINE __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
KS_INLINE __hip_bfloat16 __low2bfloat16(__hip_bfloat162 v) { return v.x; }
KS_INLINE __hip_bfloat16 __high2bfloat16(__hip_bfloat162 v) { return v.y; }

#endif
