/* __half and __half2: stored in 16 bits, computed in float32, rounded to nearest even. */
#ifndef KS_HIP_FP16_H
#define KS_HIP_FP16_H

#include "hip_runtime.h"
#include "../ks/half_bits.h"

struct __half_raw { unsigned short x; };

#define KS_TYPE __half
#define KS_RAW __half_raw
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

KS_INLINE __half ks_half(unsigned short bits) { return ks_bits<__half>(bits); }
KS_INLINE __half __float2half(float x) { return __half(x); }
KS_INLINE __half __float2half_rn(float x) { return __half(x); }
/* From the nearest half to the one next to it, where that lies on the wrong side of x. */
KS_INLINE __half __float2half_rd(float x) {
    const __half near = __half(x);
    if (!(float(near) > x)) return near;
    if (float(near) == 0) return ks_half(0x8001);
    return ks_half((unsigned short)(near.__x + (near.__x >> 15 ? 1 : -1)));
}
KS_INLINE __half __float2half_ru(float x) { return -__float2half_rd(-x); }
KS_INLINE __half __float2half_rz(float x) {
    return x > 0 ? __float2half_rd(x) : __float2half_ru(x);
}
KS_INLINE __half __double2half(double x) { return __half((float)x); }
#define KS_HALF_OF(From, from)                                                                     \
    KS_INLINE __half __##from##2half_rn(From x) { return __half((float)x); }
KS_HALF_OF(int, int) KS_HALF_OF(unsigned, uint) KS_HALF_OF(short, short)
KS_HALF_OF(unsigned short, ushort) KS_HALF_OF(long long, ll) KS_HALF_OF(unsigned long long, ull)
KS_INLINE float __half2float(__half x) { return x; }
#define KS_OF_HALF(To, to)                                                                         \
    KS_INLINE To __half2##to##_rn(__half x) { return (To)rintf(x); }                               \
    KS_INLINE To __half2##to##_rz(__half x) { return (To)(float)x; }                               \
    KS_INLINE To __half2##to##_rd(__half x) { return (To)floorf(x); }                              \
    KS_INLINE To __half2##to##_ru(__half x) { return (To)ceilf(x); }
KS_OF_HALF(int, int) KS_OF_HALF(unsigned, uint) KS_OF_HALF(short, short)
KS_OF_HALF(unsigned short, ushort) KS_OF_HALF(long long, ll) KS_OF_HALF(unsigned long long, ull)
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
KS_INLINE __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
KS_INLINE __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }

#endif
