/* std::numeric_limits, in constant expressions too. By formulas: what nobody asks for costs nothing. */
#ifndef KS_NUMERIC_LIMITS_H
#define KS_NUMERIC_LIMITS_H

namespace std {

struct ks_no_limits { static constexpr bool is_specialized = false; };

template <typename T> struct ks_integer_limits {
    static constexpr bool is_specialized = true, is_integer = true, is_exact = true;
    static constexpr bool is_signed = T(-1) < T(0), is_bounded = true, is_modulo = !is_signed;
    static constexpr bool has_infinity = false, has_quiet_NaN = false, is_iec559 = false;
    static constexpr int radix = 2, digits = is_same_v<T, bool> ? 1 : 8 * sizeof(T) - is_signed;
    static constexpr int digits10 = digits * 643L / 2136; /* by log10(2) */
    static constexpr T max() { return T(~0ull >> (64 - digits)); }
    static constexpr T min() { return is_signed ? T(-max() - 1) : T(0); }
    static constexpr T lowest() { return min(); }
    static constexpr T epsilon() { return 0; }
    static constexpr T infinity() { return 0; }
    static constexpr T quiet_NaN() { return 0; }
};

template <typename T> struct ks_real_limits {
    static constexpr bool wide = sizeof(T) == 8;
    static constexpr bool is_specialized = true, is_integer = false, is_exact = false;
    static constexpr bool is_signed = true, is_bounded = true, is_modulo = false;
    static constexpr bool has_infinity = true, has_quiet_NaN = true, is_iec559 = true;
    static constexpr int radix = 2, digits = wide ? DBL_MANT_DIG : FLT_MANT_DIG;
    static constexpr int digits10 = wide ? DBL_DIG : FLT_DIG, max_digits10 = wide ? 17 : 9;
    static constexpr int min_exponent = wide ? DBL_MIN_EXP : FLT_MIN_EXP;
    static constexpr int max_exponent = wide ? DBL_MAX_EXP : FLT_MAX_EXP;
    static constexpr int min_exponent10 = wide ? DBL_MIN_10_EXP : FLT_MIN_10_EXP;
    static constexpr int max_exponent10 = wide ? DBL_MAX_10_EXP : FLT_MAX_10_EXP;
    static constexpr T min() { return T(wide ? DBL_MIN : FLT_MIN); }
    static constexpr T max() { return T(wide ? DBL_MAX : FLT_MAX); }
    static constexpr T lowest() { return -max(); }
    static constexpr T epsilon() { return T(wide ? DBL_EPSILON : FLT_EPSILON); }
    static constexpr T denorm_min() { return T(wide ? DBL_TRUE_MIN : FLT_TRUE_MIN); }
    static constexpr T round_error() { return T(0.5); }
    static constexpr T infinity() { return T(INFINITY); }
    static constexpr T quiet_NaN() { return T(NAN); }
    static constexpr T signaling_NaN() { return T(NAN); }
};

template <typename T>
struct numeric_limits
    : conditional_t<is_integral_v<T>, ks_integer_limits<T>,
                    conditional_t<is_floating_point_v<T>, ks_real_limits<T>, ks_no_limits>> {};
template <typename T> struct numeric_limits<const T> : numeric_limits<T> {};

} // namespace std

#endif
