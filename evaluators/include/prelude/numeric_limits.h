/* std::numeric_limits, in constant expressions too. */
#ifndef KS_NUMERIC_LIMITS_H
#define KS_NUMERIC_LIMITS_H

#include "limits.h"

namespace std {

template <typename T> struct numeric_limits { static constexpr bool is_specialized = false; };
template <typename T> struct numeric_limits<const T> : numeric_limits<T> {};

template <typename T, T least, T most, int bits> struct ks_integer_limits {
    static constexpr bool is_specialized = true, is_integer = true, is_exact = true;
    static constexpr bool is_signed = T(-1) < T(0), is_bounded = true, is_modulo = !is_signed;
    static constexpr bool has_infinity = false, has_quiet_NaN = false, is_iec559 = false;
    static constexpr int radix = 2, digits = bits, digits10 = bits * 643L / 2136;
    static constexpr T min() { return least; }
    static constexpr T max() { return most; }
    static constexpr T lowest() { return least; }
    static constexpr T epsilon() { return 0; }
    static constexpr T infinity() { return 0; }
    static constexpr T quiet_NaN() { return 0; }
};
#define KS_INTEGER_LIMITS(T, least, most, bits)                                                    \
    template <> struct numeric_limits<T> : ks_integer_limits<T, least, most, bits> {};
KS_INTEGER_LIMITS(bool, false, true, 1)
KS_INTEGER_LIMITS(char, CHAR_MIN, CHAR_MAX, (CHAR_MIN < 0 ? 7 : 8))
KS_INTEGER_LIMITS(signed char, SCHAR_MIN, SCHAR_MAX, 7)
KS_INTEGER_LIMITS(unsigned char, 0, UCHAR_MAX, 8)
KS_INTEGER_LIMITS(short, SHRT_MIN, SHRT_MAX, 15)
KS_INTEGER_LIMITS(unsigned short, 0, USHRT_MAX, 16)
KS_INTEGER_LIMITS(int, INT_MIN, INT_MAX, 31)
KS_INTEGER_LIMITS(unsigned, 0, UINT_MAX, 32)
KS_INTEGER_LIMITS(long, LONG_MIN, LONG_MAX, 63)
KS_INTEGER_LIMITS(unsigned long, 0, ULONG_MAX, 64)
KS_INTEGER_LIMITS(long long, LLONG_MIN, LLONG_MAX, 63)
KS_INTEGER_LIMITS(unsigned long long, 0, ULLONG_MAX, 64)

template <typename T> struct ks_real_limits {
    static constexpr bool is_specialized = true, is_integer = false, is_exact = false;
    static constexpr bool is_signed = true, is_bounded = true, is_modulo = false;
    static constexpr bool has_infinity = true, has_quiet_NaN = true, is_iec559 = true;
    static constexpr int radix = 2;
};
#define KS_REAL_LIMITS(T, name, far, none)                                                         \
    template <> struct numeric_limits<T> : ks_real_limits<T> {                                     \
        static constexpr int digits = name##_MANT_DIG, digits10 = name##_DIG;                      \
        static constexpr int max_digits10 = name##_DECIMAL_DIG;                                    \
        static constexpr int min_exponent = name##_MIN_EXP, max_exponent = name##_MAX_EXP;         \
        static constexpr int min_exponent10 = name##_MIN_10_EXP;                                   \
        static constexpr int max_exponent10 = name##_MAX_10_EXP;                                   \
        static constexpr T min() { return name##_MIN; }                                            \
        static constexpr T max() { return name##_MAX; }                                            \
        static constexpr T lowest() { return -name##_MAX; }                                        \
        static constexpr T epsilon() { return name##_EPSILON; }                                    \
        static constexpr T denorm_min() { return name##_TRUE_MIN; }                                \
        static constexpr T round_error() { return 0.5; }                                           \
        static constexpr T infinity() { return far; }                                              \
        static constexpr T quiet_NaN() { return none; }                                            \
        static constexpr T signaling_NaN() { return none; }                                        \
    };
KS_REAL_LIMITS(float, FLT, INFINITY, NAN)
KS_REAL_LIMITS(double, DBL, HUGE_VAL, (double)NAN)

#undef KS_INTEGER_LIMITS
#undef KS_REAL_LIMITS
} // namespace std

#endif
