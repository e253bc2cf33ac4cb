/* __half and __half2: stored in 16 bits, computed in float32, rounded to nearest even. */
#ifndef KS_HIP_FP16_H
#define KS_HIP_FP16_H

#include "hip_runtime.h"
#include "../ks/half_bits.h"

struct __half_raw { unsigned short x; };

#define KS_TYPE __half
#define KS_TO_FLOAT ks_half_to_float
#define KS_FROM_FLOAT ks_float_to_half
#include "../ks/short_float.h"

struct alignas(4) __half2 {
    __half x, y;
    __half2() = default;
    KS_MEMBER __half2(__half x, __half y) : x(x), y(y) {}
    KS_MEMBER __half2(float both) : x(both), y(both) {}
};
typedef __half half;
typedef __half2 half2;
#define KS_PAIR __half2
#include "../ks/short_float_pair.h"

KS_INLINE __half __float2half(float x) { return __half(x); }
KS_INLINE __half __float2half_rn(float x) { return __half(x); }
KS_INLINE __half __double2half(double x) { return __half((float)x); }
KS_INLINE __half __int2half_rn(int x) { return __half((float)x); }
KS_INLINE __half __uint2half_rn(unsigned x) { return __half((float)x); }
KS_INLINE float __half2float(__half x) { return x; }
KS_INLINE int __half2int_rn(__half x) { return (int)rintf(x); }
KS_INLINE int __half2int_rz(__half x) { return (int)(float)x; }
KS_INLINE unsigned short __half_as_ushort(__half x) { return ks_bits<unsigned short>(x); }
KS_INLINE short __half_as_short(__half x) { return ks_bits<short>(x); }
KS_INLINE __half __ushort_as_half(unsigned short x) { return ks_bits<__half>(x); }
KS_INLINE __half __short_as_half(short x) { return ks_bits<__half>(x); }

KS_INLINE __half2 __float2half2_rn(float x) { return __half2(x, x); }
KS_INLINE __half2 __floats2half2_rn(float x, float y) { return __half2(x, y); }
KS_INLINE __half2 __float22half2_rn(float2 v) { return __half2(v.x, v.y); }
KS_INLINE float2 __half22float2(__half2 v) { return {v.x, v.y}; }
KS_INLINE __half2 __half2half2(__half x) { return __half2(x, x); }
KS_INLINE __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
KS_INLINE __half2 make_half2(__half x, __half y) { return __half2(x, y); }
KS_INLINE __half __low2half(__half2 v) { return v.x; }
KS_INLINE __half __high2half(__half2 v) { return v.y; }
KS_INLINE __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
KS_INLINE __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
KS_INLINE __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }

#endif
