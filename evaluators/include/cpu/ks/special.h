/* Functions of HIP's that libm lacks, and those that would write through a pointer there: the
 * oracle watches writes of inline code only. */
#ifndef KS_SPECIAL_H
#define KS_SPECIAL_H

KS_INLINE double exp10(double x) { return __builtin_exp10(x); }
KS_INLINE float exp10(float x) { return exp10f(x); }
KS_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
KS_INLINE double rcbrt(double x) { return 1.0 / cbrt(x); }
KS_INLINE float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
KS_INLINE double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
KS_INLINE float norm3df(float x, float y, float z) {
    return (float)sqrt((double)x * x + (double)y * y + (double)z * z);
}
KS_INLINE float norm4df(float x, float y, float z, float w) {
    return (float)sqrt((double)x * x + (double)y * y + (double)z * z + (double)w * w);
}
KS_INLINE float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
KS_INLINE float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }

/* sin(pi x): a quarter turn at a time, so that whole and half numbers give whole ones. */
KS_INLINE double sinpi(double x) {
    const double quarters = rint(2 * x), angle = (x - quarters / 2) * M_PI;
    const int quarter = (int)(quarters - 4 * floor(quarters / 4));
    const double value = quarter & 1 ? cos(angle) : sin(angle);
    return quarter & 2 ? -value : value;
}
KS_INLINE double cospi(double x) { return sinpi(x + 0.5); }
KS_INLINE float sinpif(float x) { return (float)sinpi(x); }
KS_INLINE float cospif(float x) { return (float)cospi(x); }
KS_INLINE void sincospif(float x, float *s, float *c) { *s = sinpif(x), *c = cospif(x); }
KS_INLINE void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }

/* Winitzki's estimate (2008), then three steps of Newton's. */
KS_INLINE double erfinv(double x) {
    if (!(x > -1 && x < 1)) return x == 1 || x == -1 ? x * HUGE_VAL : (double)NAN;
    const double tail = log((1 - x) * (1 + x)), sum = 4.330746750799873 + tail / 2;
    double y = copysign(sqrt(sqrt(sum * sum - tail / 0.147) - sum), x);
    for (int i = 0; i < 3; ++i) y -= (erf(y) - x) * exp(y * y) * 0.8862269254527580137;
    return y;
}
KS_INLINE float erfinvf(float x) { return (float)erfinv(x); }
/* e^(x^2) erfc(x); beyond 20 by the first terms of its asymptotic series. */
KS_INLINE double erfcx(double x) {
    if (x < 20) return exp(x * x) * erfc(x);
    const double square = x * x;
    return 0.5641895835477562869 / x * (1 - 0.5 / square + 0.75 / (square * square));
}
KS_INLINE float erfcxf(float x) { return (float)erfcx(x); }

/* x = fraction * 2^exponent, the fraction from 1/2 up to 1. */
KS_INLINE double frexp(double x, int *exponent) {
    *exponent = 0;
    if (x == 0 || !__builtin_isfinite(x)) return x;
    const bool small = fabs(x) < DBL_MIN;
    const unsigned long long bits = ks_bits<unsigned long long>(small ? x * 0x1p54 : x);
    *exponent = (int)(bits >> 52 & 0x7FF) - 1022 - (small ? 54 : 0);
    return ks_bits<double>((bits & ~(0x7FFull << 52)) | 1022ull << 52);
}
KS_INLINE float frexpf(float x, int *exponent) { return (float)frexp(x, exponent); }
KS_INLINE float frexp(float x, int *exponent) { return frexpf(x, exponent); }
KS_INLINE float modff(float x, float *whole) {
    *whole = truncf(x);
    return isinf(x) ? copysignf(0.0f, x) : copysignf(x - *whole, x);
}
KS_INLINE double modf(double x, double *whole) {
    *whole = trunc(x);
    return isinf(x) ? copysign(0.0, x) : copysign(x - *whole, x);
}
KS_INLINE int ilogbf(float x) {
    if (x == 0 || isnan(x)) return x == 0 ? INT_MIN : INT_MAX;
    int exponent;
    frexpf(x, &exponent);
    return isinf(x) ? INT_MAX : exponent - 1;
}
KS_INLINE float logbf(float x) {
    return x == 0 ? -INFINITY : isfinite(x) ? (float)ilogbf(x) : x * x;
}
KS_INLINE float nextafterf(float x, float y) {
    return isnan(x) || isnan(y) ? NAN : x == y ? y : ks_next_float(x, y > x);
}

KS_INLINE double __dadd_rn(double a, double b) { return a + b; }
KS_INLINE double __dsub_rn(double a, double b) { return a - b; }
KS_INLINE double __dmul_rn(double a, double b) { return a * b; }
KS_INLINE double __ddiv_rn(double a, double b) { return a / b; }
KS_INLINE double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
KS_INLINE double __drcp_rn(double x) { return 1.0 / x; }
KS_INLINE double __dsqrt_rn(double x) { return sqrt(x); }

#endif
