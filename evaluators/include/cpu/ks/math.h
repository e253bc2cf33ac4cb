/* Mathematical functions. Those in inline code vectorise; the others are libm's. */
#ifndef KS_MATH_H
#define KS_MATH_H

#ifndef KS_FUNCTIONS_GIVEN /* by headers that know the processor's own */
#include "elementary.h"

#define KS_UNARY(name)                                                                             \
    KS_INLINE float name##f(float x) { return __builtin_##name##f(x); }                            \
    KS_INLINE double name(double x) { return __builtin_##name(x); }                                \
    KS_INLINE float name(float x) { return __builtin_##name##f(x); }
#define KS_BINARY(name)                                                                            \
    KS_INLINE float name##f(float x, float y) { return __builtin_##name##f(x, y); }                \
    KS_INLINE double name(double x, double y) { return __builtin_##name(x, y); }                   \
    KS_INLINE float name(float x, float y) { return __builtin_##name##f(x, y); }
/* expf and the like are in elementary.h; these are their other two signatures. */
#define KS_UNARY_ELEMENTARY(name)                                                                  \
    KS_INLINE double name(double x) { return __builtin_##name(x); }                                \
    KS_INLINE float name(float x) { return name##f(x); }

KS_UNARY(sqrt) KS_UNARY(cbrt) KS_UNARY(fabs) KS_UNARY(floor) KS_UNARY(ceil) KS_UNARY(trunc)
KS_UNARY(rint) KS_UNARY(nearbyint) KS_UNARY(round) KS_UNARY(sin) KS_UNARY(cos) KS_UNARY(tan)
KS_UNARY(asin) KS_UNARY(acos) KS_UNARY(atan) KS_UNARY(sinh) KS_UNARY(cosh) KS_UNARY(asinh)
KS_UNARY(acosh) KS_UNARY(atanh) KS_UNARY(expm1) KS_UNARY(log1p) KS_UNARY(erf) KS_UNARY(erfc)
KS_UNARY(tgamma) KS_UNARY(lgamma)
KS_BINARY(pow) KS_BINARY(fmod) KS_BINARY(atan2) KS_BINARY(hypot) KS_BINARY(copysign)
KS_BINARY(remainder) KS_BINARY(fdim)
KS_UNARY_ELEMENTARY(exp) KS_UNARY_ELEMENTARY(exp2) KS_UNARY_ELEMENTARY(log)
KS_UNARY_ELEMENTARY(log2) KS_UNARY_ELEMENTARY(log10) KS_UNARY_ELEMENTARY(tanh)

KS_INLINE void sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
KS_INLINE void sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }
KS_INLINE float rsqrtf(float x) { return 1.0f / sqrtf(x); }
KS_INLINE double rsqrt(double x) { return 1.0 / sqrt(x); }
KS_INLINE float rsqrt(float x) { return 1.0f / sqrtf(x); }

KS_INLINE float __expf(float x) { return expf(x); }
KS_INLINE float __exp10f(float x) { return exp10f(x); }
KS_INLINE float __logf(float x) { return logf(x); }
KS_INLINE float __log2f(float x) { return log2f(x); }
KS_INLINE float __log10f(float x) { return log10f(x); }
KS_INLINE float __powf(float x, float y) { return powf(x, y); }
KS_INLINE float __sinf(float x) { return sinf(x); }
KS_INLINE float __cosf(float x) { return cosf(x); }
KS_INLINE float __tanf(float x) { return tanf(x); }

#define KS_EXTREME(name, T, sign)                                                                  \
    KS_INLINE T name(T a, T b) { return a sign b || b != b ? a : b; }
#endif

/* The larger number; a NaN only where both are (IEEE maxNum, as v_max_f32 does). */
KS_EXTREME(fmaxf, float, >) KS_EXTREME(fmax, double, >) KS_EXTREME(fmax, float, >)
KS_EXTREME(fminf, float, <) KS_EXTREME(fmin, double, <) KS_EXTREME(fmin, float, <)

KS_INLINE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
KS_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
KS_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
KS_INLINE float powif(float x, int n) { return __builtin_powif(x, n); }
KS_INLINE float ldexpf(float x, int n) { return __builtin_ldexpf(x, n); }
KS_INLINE double ldexp(double x, int n) { return __builtin_ldexp(x, n); }
KS_INLINE float scalbnf(float x, int n) { return __builtin_ldexpf(x, n); }
KS_INLINE float fdividef(float a, float b) { return a / b; }
KS_INLINE float normcdff(float x) { return 0.5f * erfcf(x * -0.70710678118654752f); }

KS_INLINE void __sincosf(float x, float *s, float *c) { sincosf(x, s, c); }
KS_INLINE float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
KS_INLINE float __fdividef(float a, float b) { return a / b; }
KS_INLINE float __fadd_rn(float a, float b) { return a + b; }
KS_INLINE float __fsub_rn(float a, float b) { return a - b; }
KS_INLINE float __fmul_rn(float a, float b) { return a * b; }
KS_INLINE float __fdiv_rn(float a, float b) { return a / b; }
KS_INLINE float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
KS_INLINE float __frcp_rn(float x) { return 1.0f / x; }
KS_INLINE float __fsqrt_rn(float x) { return sqrtf(x); }
KS_INLINE float __frsqrt_rn(float x) { return rsqrtf(x); }

#include "conversions.h"

/* By their bits, so that they hold under -ffast-math too. */
KS_INLINE bool isnan(float x) { return (__float_as_uint(x) & 0x7FFFFFFFu) > 0x7F800000u; }
KS_INLINE bool isinf(float x) { return (__float_as_uint(x) & 0x7FFFFFFFu) == 0x7F800000u; }
KS_INLINE bool isfinite(float x) { return (__float_as_uint(x) & 0x7F800000u) != 0x7F800000u; }
KS_INLINE bool signbit(float x) { return __float_as_uint(x) >> 31; }
KS_INLINE bool isnan(double x) { return __builtin_isnan(x); }
KS_INLINE bool isinf(double x) { return __builtin_isinf(x); }
KS_INLINE bool isfinite(double x) { return __builtin_isfinite(x); }
KS_INLINE bool signbit(double x) { return ks_bits<long long>(x) < 0; }

#include "extremes.h"

#endif
