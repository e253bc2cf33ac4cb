/* Conversions between numbers with the rounding in their names: rn to nearest even, rz towards
 * zero, rd down, ru up. */
#ifndef KS_CONVERSIONS_H
#define KS_CONVERSIONS_H

#define KS_TO_INTEGER(From, from, f, To, to)                                                       \
    KS_INLINE To __##from##2##to##_rn(From x) { return (To)__builtin_rint##f(x); }                 \
    KS_INLINE To __##from##2##to##_rz(From x) { return (To)x; }                                    \
    KS_INLINE To __##from##2##to##_rd(From x) { return (To)__builtin_floor##f(x); }                \
    KS_INLINE To __##from##2##to##_ru(From x) { return (To)__builtin_ceil##f(x); }
#define KS_TO_INTEGERS(From, from, f)                                                              \
    KS_TO_INTEGER(From, from, f, int, int) KS_TO_INTEGER(From, from, f, unsigned, uint)            \
    KS_TO_INTEGER(From, from, f, long long, ll)                                                    \
    KS_TO_INTEGER(From, from, f, unsigned long long, ull)
KS_TO_INTEGERS(float, float, f)
KS_TO_INTEGERS(double, double, )

/* The float below or above one that x was rounded to, where that lies on the other side of x. */
KS_INLINE float ks_next_float(float rounded, bool up) {
    if (rounded == 0) return up ? 0x1p-149f : -0x1p-149f;
    return __int_as_float(__float_as_int(rounded) + ((rounded > 0) == up ? 1 : -1));
}
KS_INLINE float __double2float_rn(double x) { return (float)x; }
KS_INLINE float __double2float_rd(double x) {
    return (float)x > x ? ks_next_float((float)x, false) : (float)x;
}
KS_INLINE float __double2float_ru(double x) {
    return (float)x < x ? ks_next_float((float)x, true) : (float)x;
}
KS_INLINE float __double2float_rz(double x) {
    return x > 0 ? __double2float_rd(x) : __double2float_ru(x);
}

/* Of 32 bits, which a double holds exactly. */
#define KS_FROM_WORD(From, from)                                                                   \
    KS_INLINE float __##from##2float_rn(From x) { return (float)x; }                               \
    KS_INLINE float __##from##2float_rz(From x) { return __double2float_rz(x); }                   \
    KS_INLINE float __##from##2float_rd(From x) { return __double2float_rd(x); }                   \
    KS_INLINE float __##from##2float_ru(From x) { return __double2float_ru(x); }                   \
    KS_INLINE double __##from##2double_rn(From x) { return (double)x; }
KS_FROM_WORD(int, int)
KS_FROM_WORD(unsigned, uint)
KS_INLINE float __ll2float_rn(long long x) { return (float)x; }
KS_INLINE float __ull2float_rn(unsigned long long x) { return (float)x; }
KS_INLINE double __ll2double_rn(long long x) { return (double)x; }
KS_INLINE double __ull2double_rn(unsigned long long x) { return (double)x; }

KS_INLINE long lrintf(float x) { return (long)__builtin_rintf(x); }
KS_INLINE long lrint(double x) { return (long)__builtin_rint(x); }
KS_INLINE long long llrintf(float x) { return (long long)__builtin_rintf(x); }
KS_INLINE long long llrint(double x) { return (long long)__builtin_rint(x); }
KS_INLINE long lroundf(float x) { return (long)__builtin_roundf(x); }
KS_INLINE long lround(double x) { return (long)__builtin_round(x); }
KS_INLINE long long llroundf(float x) { return (long long)__builtin_roundf(x); }
KS_INLINE long long llround(double x) { return (long long)__builtin_round(x); }

#endif
