/* Mathematical functions that clang lowers for AMD GPUs by itself, and short ones made of them.
 *
 * clang's own (sqrtf, expf, logf and the like) are as exact as AMD's device libraries; the comments
 * below say how far the others are. What would need those libraries is deleted, with a reason. */
#ifndef KS_FUNCTIONS_H
#define KS_FUNCTIONS_H

#define KS_MISSING                                                                                 \
    = delete("this needs AMD's device libraries, which clang 19 has not: fetch hiprtc")

#define KS_EXACT1(name)                                                                            \
    KS_INLINE float name##f(float x) { return __builtin_##name##f(x); }                            \
    KS_INLINE float name(float x) { return __builtin_##name##f(x); }                               \
    KS_INLINE double name(double x) { return __builtin_##name(x); }
#define KS_EXACT2(name)                                                                            \
    KS_INLINE float name##f(float x, float y) { return __builtin_##name##f(x, y); }                \
    KS_INLINE float name(float x, float y) { return __builtin_##name##f(x, y); }                   \
    KS_INLINE double name(double x, double y) { return __builtin_##name(x, y); }
#define KS_FLOAT1(name, ...)                                                                       \
    KS_INLINE float name##f(float x) { __VA_ARGS__ }                                               \
    KS_INLINE float name(float x) { return name##f(x); }                                           \
    double name(double) KS_MISSING;
#define KS_FLOAT2(name, ...)                                                                       \
    KS_INLINE float name##f(float x, float y) { __VA_ARGS__ }                                      \
    KS_INLINE float name(float x, float y) { return name##f(x, y); }                               \
    double name(double, double) KS_MISSING;
#define KS_NONE1(name)                                                                             \
    float name##f(float) KS_MISSING;                                                               \
    float name(float) KS_MISSING;                                                                  \
    double name(double) KS_MISSING;
#define KS_NONE2(name)                                                                             \
    float name##f(float, float) KS_MISSING;                                                        \
    float name(float, float) KS_MISSING;                                                           \
    double name(double, double) KS_MISSING;

KS_EXACT1(sqrt) KS_EXACT1(fabs) KS_EXACT1(floor) KS_EXACT1(ceil) KS_EXACT1(trunc)
KS_EXACT1(rint) KS_EXACT1(nearbyint) KS_EXACT1(round)
KS_EXACT2(copysign) KS_EXACT2(fmod)
KS_NONE1(asin) KS_NONE1(acos) KS_NONE1(atan) KS_NONE1(asinh) KS_NONE1(acosh) KS_NONE1(atanh)
KS_NONE1(tgamma) KS_NONE1(lgamma) KS_NONE2(atan2) KS_NONE2(remainder)
float frexpf(float, int *) KS_MISSING;
double frexp(double, int *) KS_MISSING;
float modff(float, float *) KS_MISSING;
double modf(double, double *) KS_MISSING;

KS_FLOAT1(exp, return __builtin_expf(x);)
KS_FLOAT1(exp2, return __builtin_exp2f(x);)
KS_FLOAT1(exp10, return __builtin_exp10f(x);)
KS_FLOAT1(log, return __builtin_logf(x);)
KS_FLOAT1(log2, return __builtin_log2f(x);)
KS_FLOAT1(log10, return __builtin_log10f(x);)

/* Angles in turns, as v_sin_f32 takes them; two-part reduction, for |x| up to about 2^17. */
KS_INLINE float ks_turns(float x) {
    float n = __builtin_rintf(x * 0.15915494309189535f);
    float r = __builtin_fmaf(n, -6.2831854820251465f, x);
    return __builtin_fmaf(n, 1.7484556000744883e-7f, r) * 0.15915494309189535f;
}
KS_FLOAT1(sin, return __builtin_amdgcn_sinf(ks_turns(x));)
KS_FLOAT1(cos, return __builtin_amdgcn_cosf(ks_turns(x));)
KS_FLOAT1(tan, return sinf(x) / cosf(x);)
KS_INLINE void sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
void sincos(double, double *, double *) KS_MISSING;

/* Kahan's corrections of the rounding of 1 + x and of e^x. */
KS_FLOAT1(log1p, {
    float u = 1.0f + x;
    return u == 1.0f ? x : __builtin_logf(u) - ((u - 1.0f) - x) / u;
})
KS_FLOAT1(expm1, {
    float u = __builtin_expf(x);
    if (u == 1.0f) return x;
    return u - 1.0f == -1.0f || u > 0x1p64f ? u - 1.0f : (u - 1.0f) * x / __builtin_logf(u);
})
KS_FLOAT1(tanh, {
    float e = expm1f(-2.0f * __builtin_fabsf(x));
    return __builtin_copysignf(-e / (e + 2.0f), x);
})
KS_FLOAT1(sinh, {
    float e = expm1f(__builtin_fabsf(x));
    return __builtin_copysignf(0.5f * (e + e / (e + 1.0f)), x);
})
KS_FLOAT1(cosh, {
    float e = __builtin_expf(__builtin_fabsf(x));
    return 0.5f * e + 0.5f / e;
})
KS_FLOAT1(cbrt, {
    float magnitude = __builtin_exp2f(__builtin_log2f(__builtin_fabsf(x)) * 0.33333333333f);
    return __builtin_copysignf(magnitude, x);
})
/* Absolute error below 1.5e-7: Abramowitz and Stegun, 7.1.26. */
KS_INLINE float ks_erfc_positive(float x) {
    float t = 1.0f / __builtin_fmaf(0.3275911f, x, 1.0f);
    float p = __builtin_fmaf(1.061405429f, t, -1.453152027f);
    p = __builtin_fmaf(p, t, 1.421413741f);
    p = __builtin_fmaf(p, t, -0.284496736f);
    p = __builtin_fmaf(p, t, 0.254829592f);
    return p * t * __builtin_expf(-x * x);
}
KS_FLOAT1(erf, return __builtin_copysignf(1.0f - ks_erfc_positive(__builtin_fabsf(x)), x);)
KS_FLOAT1(erfc, {
    float tail = ks_erfc_positive(__builtin_fabsf(x));
    return x < 0.0f ? 2.0f - tail : tail;
})
/* Relative error grows with the exponent of the result, to about 2^-16. */
KS_FLOAT2(pow, {
    float magnitude = __builtin_exp2f(y * __builtin_log2f(__builtin_fabsf(x)));
    bool whole = __builtin_truncf(y) == y, odd = whole && __builtin_truncf(0.5f * y) != 0.5f * y;
    float result = odd ? __builtin_copysignf(magnitude, x) : magnitude;
    result = x < 0.0f && !whole ? __builtin_nanf("") : result;
    return y == 0.0f || x == 1.0f ? 1.0f : result;
})
KS_FLOAT2(hypot, return __builtin_sqrtf(__builtin_fmaf(x, x, y * y));)
KS_FLOAT2(fdim, return x > y ? x - y : 0.0f;)

/* v_rsq_f32 knows no subnormal numbers. */
KS_INLINE float rsqrtf(float x) {
    bool small = x < 0x1p-100f;
    float root = __builtin_amdgcn_rsqf(small ? x * 0x1p100f : x);
    return small ? root * 0x1p50f : root;
}
KS_INLINE float rsqrt(float x) { return rsqrtf(x); }
KS_INLINE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

/* One instruction and a factor, as in AMD's headers. */
KS_INLINE float __expf(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504088896341f); }
KS_INLINE float __exp10f(float x) { return __builtin_amdgcn_exp2f(x * 3.32192809488736235f); }
KS_INLINE float __log2f(float x) { return __builtin_amdgcn_logf(x); }
KS_INLINE float __logf(float x) { return __builtin_amdgcn_logf(x) * 0.693147180559945309f; }
KS_INLINE float __log10f(float x) { return __builtin_amdgcn_logf(x) * 0.301029995663981195f; }
KS_INLINE float __powf(float x, float y) {
    return __builtin_amdgcn_exp2f(y * __builtin_amdgcn_logf(x));
}
KS_INLINE float __sinf(float x) { return __builtin_amdgcn_sinf(x * 0.15915494309189535f); }
KS_INLINE float __cosf(float x) { return __builtin_amdgcn_cosf(x * 0.15915494309189535f); }
KS_INLINE float __tanf(float x) { return __sinf(x) / __cosf(x); }

#define KS_EXTREME(name, T, sign)                                                                  \
    KS_INLINE T name(T a, T b) {                                                                   \
        return 1 sign 0 ? __builtin_elementwise_max(a, b) : __builtin_elementwise_min(a, b);       \
    }

#endif
