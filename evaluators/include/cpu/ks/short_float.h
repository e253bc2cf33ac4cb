/* The class of a 16-bit number KS_TYPE with its scalar functions; included once for each type. */

struct KS_TYPE {
    unsigned short __x;
    KS_TYPE() = default;
    template <typename T, typename = KsOnlyIf<ks_is_number<T>, T>>
    KS_MEMBER KS_TYPE(T value) : __x(KS_FROM_FLOAT((float)value)) {}
    KS_MEMBER KS_TYPE(const KS_RAW &raw) : __x(raw.x) {}
    KS_MEMBER operator KS_RAW() const { return {__x}; }
    KS_MEMBER operator float() const { return KS_TO_FLOAT(__x); }
    KS_MEMBER KS_TYPE &operator+=(KS_TYPE b) { return *this = KS_TYPE(float(*this) + float(b)); }
    KS_MEMBER KS_TYPE &operator-=(KS_TYPE b) { return *this = KS_TYPE(float(*this) - float(b)); }
    KS_MEMBER KS_TYPE &operator*=(KS_TYPE b) { return *this = KS_TYPE(float(*this) * float(b)); }
    KS_MEMBER KS_TYPE &operator/=(KS_TYPE b) { return *this = KS_TYPE(float(*this) / float(b)); }
    KS_MEMBER KS_TYPE operator-() const {
        KS_TYPE negative;
        negative.__x = __x ^ 0x8000;
        return negative;
    }
};

/* Sums, products and quotients of two are exact to float32's rounding, and so round once. */
KS_INLINE KS_TYPE operator+(KS_TYPE a, KS_TYPE b) { return KS_TYPE(float(a) + float(b)); }
KS_INLINE KS_TYPE operator-(KS_TYPE a, KS_TYPE b) { return KS_TYPE(float(a) - float(b)); }
KS_INLINE KS_TYPE operator*(KS_TYPE a, KS_TYPE b) { return KS_TYPE(float(a) * float(b)); }
KS_INLINE KS_TYPE operator/(KS_TYPE a, KS_TYPE b) { return KS_TYPE(float(a) / float(b)); }

/* With a wider operand, float32: else the two conversions would be ambiguous. */
#define KS_MIXED(sign, T)                                                                          \
    KS_INLINE float operator sign(KS_TYPE a, T b) { return float(a) sign float(b); }               \
    KS_INLINE float operator sign(T a, KS_TYPE b) { return float(a) sign float(b); }
KS_MIXED(+, float) KS_MIXED(-, float) KS_MIXED(*, float) KS_MIXED(/, float)
KS_MIXED(+, double) KS_MIXED(-, double) KS_MIXED(*, double) KS_MIXED(/, double)
KS_MIXED(+, int) KS_MIXED(-, int) KS_MIXED(*, int) KS_MIXED(/, int)

KS_INLINE KS_TYPE __hadd(KS_TYPE a, KS_TYPE b) { return a + b; }
KS_INLINE KS_TYPE __hsub(KS_TYPE a, KS_TYPE b) { return a - b; }
KS_INLINE KS_TYPE __hmul(KS_TYPE a, KS_TYPE b) { return a * b; }
KS_INLINE KS_TYPE __hdiv(KS_TYPE a, KS_TYPE b) { return a / b; }
#ifndef KS_FMA
#define KS_FMA(a, b, c) KS_TYPE(__builtin_fmaf(float(a), float(b), float(c)))
#endif
KS_INLINE KS_TYPE __hfma(KS_TYPE a, KS_TYPE b, KS_TYPE c) { return KS_FMA(a, b, c); }
KS_INLINE KS_TYPE __hneg(KS_TYPE a) { return -a; }
KS_INLINE KS_TYPE __habs(KS_TYPE a) {
    a.__x &= 0x7FFF;
    return a;
}
KS_INLINE KS_TYPE __hmax(KS_TYPE a, KS_TYPE b) { return KS_TYPE(fmaxf(a, b)); }
KS_INLINE KS_TYPE __hmin(KS_TYPE a, KS_TYPE b) { return KS_TYPE(fminf(a, b)); }
KS_INLINE bool __heq(KS_TYPE a, KS_TYPE b) { return float(a) == float(b); }
KS_INLINE bool __hne(KS_TYPE a, KS_TYPE b) { return float(a) != float(b); }
KS_INLINE bool __hlt(KS_TYPE a, KS_TYPE b) { return float(a) < float(b); }
KS_INLINE bool __hle(KS_TYPE a, KS_TYPE b) { return float(a) <= float(b); }
KS_INLINE bool __hgt(KS_TYPE a, KS_TYPE b) { return float(a) > float(b); }
KS_INLINE bool __hge(KS_TYPE a, KS_TYPE b) { return float(a) >= float(b); }
KS_INLINE bool __hisnan(KS_TYPE a) { return isnan(float(a)); }
KS_INLINE bool __hisinf(KS_TYPE a) { return isinf(float(a)); }
KS_INLINE KS_TYPE hexp(KS_TYPE a) { return KS_TYPE(expf(a)); }
KS_INLINE KS_TYPE hexp2(KS_TYPE a) { return KS_TYPE(exp2f(a)); }
KS_INLINE KS_TYPE hlog(KS_TYPE a) { return KS_TYPE(logf(a)); }
KS_INLINE KS_TYPE hlog2(KS_TYPE a) { return KS_TYPE(log2f(a)); }
KS_INLINE KS_TYPE hsqrt(KS_TYPE a) { return KS_TYPE(sqrtf(a)); }
KS_INLINE KS_TYPE hrsqrt(KS_TYPE a) { return KS_TYPE(rsqrtf(a)); }
KS_INLINE KS_TYPE hrcp(KS_TYPE a) { return KS_TYPE(1.0f / float(a)); }
KS_INLINE KS_TYPE hfloor(KS_TYPE a) { return KS_TYPE(floorf(a)); }
KS_INLINE KS_TYPE hceil(KS_TYPE a) { return KS_TYPE(ceilf(a)); }
KS_INLINE KS_TYPE htrunc(KS_TYPE a) { return KS_TYPE(truncf(a)); }
KS_INLINE KS_TYPE hrint(KS_TYPE a) { return KS_TYPE(rintf(a)); }
KS_INLINE KS_TYPE hexp10(KS_TYPE a) { return KS_TYPE(exp10f(a)); }
KS_INLINE KS_TYPE hlog10(KS_TYPE a) { return KS_TYPE(log10f(a)); }
KS_INLINE KS_TYPE hsin(KS_TYPE a) { return KS_TYPE(sinf(a)); }
KS_INLINE KS_TYPE hcos(KS_TYPE a) { return KS_TYPE(cosf(a)); }
KS_INLINE KS_TYPE htanh(KS_TYPE a) { return KS_TYPE(tanhf(a)); }
KS_INLINE KS_TYPE __hadd_rn(KS_TYPE a, KS_TYPE b) { return a + b; }
KS_INLINE KS_TYPE __hsub_rn(KS_TYPE a, KS_TYPE b) { return a - b; }
KS_INLINE KS_TYPE __hmul_rn(KS_TYPE a, KS_TYPE b) { return a * b; }

#undef KS_RAW
#undef KS_FMA
#undef KS_MIXED
#undef KS_TO_FLOAT
#undef KS_FROM_FLOAT
