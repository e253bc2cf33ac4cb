// Small floating-point formats: to and from double, which holds each of them exactly.
#pragma once
#include <cmath>

#include "operands.hpp"

struct Format {
    int exponent, mantissa, bias;
    u32 most;      // the largest finite magnitude
    u32 infinity;  // what overflow becomes
    u32 nan;
    bool fnuz;     // one zero; NaN is the sign alone
};
constexpr Format HALF{5, 10, 15, 0x7bff, 0x7c00, 0x7e00, false};
constexpr Format BFLOAT{8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, false};
constexpr Format FP8{4, 3, 8, 0x7f, 0x80, 0x80, true};    // E4M3 FNUZ
constexpr Format BF8{5, 2, 16, 0x7f, 0x80, 0x80, true};   // E5M2 FNUZ

enum class Round { nearest, zero, stochastic };

inline double decode(u32 x, const Format& f) {
    u32 width = f.exponent + f.mantissa, body = x & ((1u << width) - 1);
    bool minus = x >> width & 1;
    if (f.fnuz && minus && !body) return NAN;
    u32 e = body >> f.mantissa, m = body & ((1u << f.mantissa) - 1);
    if (!f.fnuz && e == (1u << f.exponent) - 1) {
        return real64(u64(minus) << 63 | u64(0x7ff) << 52 | u64(m) << (52 - f.mantissa));  // NaN: with its bits
    }
    double value = e ? std::ldexp(double(m + (1u << f.mantissa)), int(e) - f.bias - f.mantissa)
                     : std::ldexp(double(m), 1 - f.bias - f.mantissa);
    return minus ? -value : value;
}

// chance: 32 random bits for stochastic rounding, compared with the bits that fall away.
inline u32 encode(double value, const Format& f, Round round = Round::nearest, u32 chance = 0) {
    u64 b = bits_of(value);
    u32 width = f.exponent + f.mantissa, sign = u32(b >> 63) << width;
    int e = int(b >> 52 & 0x7ff) - 1023;
    if (value != value)
        return f.fnuz ? f.nan : sign | f.nan | (u32(b >> (52 - f.mantissa)) & ((1u << f.mantissa) - 1));
    if (e == 1024) return f.fnuz ? f.nan : sign | f.infinity;
    if (value == 0) return f.fnuz ? 0 : sign;
    u64 m = (b & ((u64(1) << 52) - 1)) | u64(1) << 52;
    int least = 1 - f.bias, shift = 52 - f.mantissa + (e < least ? least - e : 0);
    u64 q = 0;
    if (shift < 62) {
        u64 rest = m & ((u64(1) << shift) - 1), middle = u64(1) << (shift - 1);
        q = m >> shift;
        if (round == Round::nearest) q += rest > middle || (rest == middle && (q & 1));
        // The 32 bits below the last one are compared.
        if (round == Round::stochastic && shift >= 32) q += (rest >> (shift - 32)) + chance > 0xffffffffull;
    }
    u32 made = e < least ? u32(q) : u32(q) + (u32(e + f.bias) << f.mantissa) - (1u << f.mantissa);
    if (made > f.most) {
        if (round == Round::zero) return sign | f.most;
        return f.fnuz ? f.nan : sign | f.infinity;
    }
    return f.fnuz && !made ? 0 : sign | made;
}

inline double half_value(u32 x) { return decode(x & 0xffff, HALF); }
inline u32 half_bits(double x) { return encode(x, HALF); }
