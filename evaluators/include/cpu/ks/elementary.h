/* expf, logf, tanhf and relatives without branches or calls, so that loops over them vectorise.
 *
 * Reductions and polynomials follow the Cephes library's single-precision versions (Moshier,
 * Methods and Programs for Mathematical Functions, 1989). Errors: below 2 ulp (3 for tanhf,
 * exp10f, log2f and log10f), tested against float64. */
#ifndef KS_ELEMENTARY_H
#define KS_ELEMENTARY_H

/* 2^n for n in [-252, 254], in two factors so that subnormal results round once. */
KS_INLINE float ks_scale(float x, int n) {
    int half = n >> 1;
    return x * __int_as_float((half + 127) << 23) * __int_as_float((n - half + 127) << 23);
}

/* e^r for |r| <= ln(2) / 2 */
KS_INLINE float ks_exp_reduced(float r) {
    float p = 1.9875691500e-4f;
    p = __builtin_fmaf(p, r, 1.3981999507e-3f);
    p = __builtin_fmaf(p, r, 8.3334519073e-3f);
    p = __builtin_fmaf(p, r, 4.1665795894e-2f);
    p = __builtin_fmaf(p, r, 1.6666665459e-1f);
    p = __builtin_fmaf(p, r, 5.0000001201e-1f);
    return __builtin_fmaf(p, r * r, r) + 1.0f;
}

KS_INLINE float expf(float x) {
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.5f ? -104.5f : x;
    float n = __builtin_rintf(x * 1.44269504088896341f);
    float r = __builtin_fmaf(n, -0.693359375f, x);
    r = __builtin_fmaf(n, 2.12194440e-4f, r);
    return ks_scale(ks_exp_reduced(r), (int)n);
}

KS_INLINE float exp2f(float x) {
    x = x > 129.0f ? 129.0f : x;
    x = x < -151.0f ? -151.0f : x;
    float n = __builtin_rintf(x);
    return ks_scale(ks_exp_reduced((x - n) * 0.693147180559945309f), (int)n);
}

KS_INLINE float exp10f(float x) {
    x = x > 38.6f ? 38.6f : x;
    x = x < -45.5f ? -45.5f : x;
    float n = __builtin_rintf(x * 3.32192809488736235f);
    float r = __builtin_fmaf(n, -0.301025390625f, x);
    r = __builtin_fmaf(n, -4.60503899e-6f, r);
    return ks_scale(ks_exp_reduced(r * 2.30258509299404568f), (int)n);
}

/* x = m * 2^n with m in [sqrt(1/2), sqrt(2)); returns m - 1 and log(m) - (m - 1). */
struct KsLog {
    float n, f, tail;
    bool special;
};

KS_INLINE KsLog ks_log(float x) {
    bool subnormal = x < __FLT_MIN__;
    unsigned bits = __float_as_uint(subnormal ? x * 0x1p23f : x);
    unsigned shifted = bits - 0x3F3504F3u; /* sqrt(1/2) */
    KsLog log;
    log.n = (float)((int)shifted >> 23) - (subnormal ? 23.0f : 0.0f);
    float f = __uint_as_float((shifted & 0x7FFFFFu) + 0x3F3504F3u) - 1.0f;
    float p = 7.0376836292e-2f;
    p = __builtin_fmaf(p, f, -1.1514610310e-1f);
    p = __builtin_fmaf(p, f, 1.1676998740e-1f);
    p = __builtin_fmaf(p, f, -1.2420140846e-1f);
    p = __builtin_fmaf(p, f, 1.4249322787e-1f);
    p = __builtin_fmaf(p, f, -1.6668057665e-1f);
    p = __builtin_fmaf(p, f, 2.0000714765e-1f);
    p = __builtin_fmaf(p, f, -2.4999993993e-1f);
    p = __builtin_fmaf(p, f, 3.3333331174e-1f);
    float square = f * f;
    log.f = f;
    log.tail = __builtin_fmaf(p * f, square, -0.5f * square);
    log.special = (__float_as_uint(x) - 1u) >= 0x7F7FFFFFu; /* zero, negative, infinite or NaN */
    return log;
}

/* What every logarithm gives for zero, negative numbers, infinity and NaN. */
KS_INLINE float ks_log_special(float x) {
    unsigned bits = __float_as_uint(x);
    float result = (bits & 0x7FFFFFFFu) == 0 ? -__builtin_inff() : __builtin_nanf("");
    return bits == 0x7F800000u ? x : result;
}

KS_INLINE float logf(float x) {
    KsLog log = ks_log(x);
    float low = __builtin_fmaf(log.n, -2.12194440e-4f, log.tail);
    float result = __builtin_fmaf(log.n, 0.693359375f, log.f + low);
    return log.special ? ks_log_special(x) : result;
}

KS_INLINE float log2f(float x) {
    KsLog log = ks_log(x);
    /* log2(e) = 1 + 0.4427: the large part of the product stays exact */
    float sum = log.f + log.tail;
    float result = __builtin_fmaf(sum, 0.44269504088896341f, log.tail) + log.f + log.n;
    return log.special ? ks_log_special(x) : result;
}

KS_INLINE float log10f(float x) {
    KsLog log = ks_log(x);
    float result = (log.f + log.tail) * 0.434294481903251828f;
    result = __builtin_fmaf(log.n, 4.60503899e-6f, result);
    result = __builtin_fmaf(log.n, 0.301025390625f, result);
    return log.special ? ks_log_special(x) : result;
}

KS_INLINE float tanhf(float x) {
    float magnitude = __builtin_fabsf(x);
    float capped = magnitude > 10.0f ? 10.0f : magnitude;
    float large = 1.0f - 2.0f / (expf(2.0f * capped) + 1.0f);
    float z = x * x;
    float p = -5.70498872745e-3f;
    p = __builtin_fmaf(p, z, 2.06390887954e-2f);
    p = __builtin_fmaf(p, z, -5.37397155531e-2f);
    p = __builtin_fmaf(p, z, 1.33314422036e-1f);
    p = __builtin_fmaf(p, z, -3.33332819422e-1f);
    float small = __builtin_fmaf(p * z, x, x);
    return magnitude < 0.625f ? small : __builtin_copysignf(large, x);
}

#endif
