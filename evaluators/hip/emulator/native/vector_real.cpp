// Floating-point instructions of the vector unit.
#include "tables.hpp"

namespace {
template <class T> bool nan(T x) { return x != x; }
template <class T> T middle(T a, T b, T c) {
    if (nan(a) || nan(b) || nan(c)) return least(least(a, b), c);
    T top = most(most(a, b), c);
    return top == a ? most(b, c) : top == b ? most(a, c) : most(a, b);
}
template <class T> T fraction(T x) {
    if (std::isinf(x)) return T(NAN);
    T r = x - std::floor(x);
    T below = std::is_same_v<T, f32> ? T(0x1.fffffep-1) : T(0x1.fffffffffffffp-1);
    return r > below ? below : r;
}
template <class T> T mantissa(T x) {
    int e;
    return std::isfinite(x) ? std::frexp(x, &e) : x;
}
template <class T> i32 exponent(T x) {
    int e = 0;
    if (std::isfinite(x) && x != 0) std::frexp(x, &e);
    return e;
}
f32 legacy(f32 a, f32 b) { return a == 0 || b == 0 ? 0.0f : a * b; }
f64 turn(f64 x) { return std::isfinite(x) ? x - std::floor(x) : NAN; }
f64 sine(f64 x) {  // in turns, exact at quarters
    f64 t = turn(x) * 4, q = std::floor(t), r = t - q;
    if (nan(x) || nan(t)) return NAN;
    f64 s = std::sin(r * M_PI_2), c = r == 0 ? 1.0 : std::cos(r * M_PI_2);
    switch (int(q) & 3) {
    case 0: return s;
    case 1: return c;
    case 2: return -s;
    default: return -c;
    }
}
f64 cosine(f64 x) { return sine(turn(x) + 0.25); }

template <class T> int field(T x) {  // its exponent's bits
    if constexpr (std::is_same_v<T, f32>) return int(bits_of(x) >> 23 & 0xff);
    else return int(bits_of(x) >> 52 & 0x7ff);
}

template <class T> constexpr bool wide = sizeof(T) == 8;
template <class T> bool denormal(T x) { return std::fpclassify(x) == FP_SUBNORMAL; }

// v_div_scale: result, VCC, the source to be scaled (0), denominator (1), numerator (2).
template <class T> T scaled_part(T part, T den, T num, bool& flag) {
    constexpr int far = wide<T> ? 768 : 96, tiny = wide<T> ? 53 : 23, up = wide<T> ? 128 : 64;
    bool of_den = raw(part) == raw(den), of_num = raw(part) == raw(num);
    flag = false;
    if (den == 0 || num == 0) return T(NAN);
    if (field(num) - field(den) >= far) {
        flag = true;
        return of_den ? std::ldexp(part, up) : part;
    }
    if (denormal(den)) return std::ldexp(part, up);
    bool small_inverse = denormal(T(1) / den), small_quotient = denormal(num / den);
    if (small_inverse && small_quotient) {
        flag = true;
        return of_den ? std::ldexp(part, -up) : part;
    }
    if (small_inverse) return std::ldexp(part, -up);
    if (small_quotient) {
        flag = true;
        return of_num ? std::ldexp(part, up) : part;
    }
    return field(num) <= tiny ? std::ldexp(part, up) : part;
}
template <class T> void div_scale(Wave& w, const Instruction& in) {
    T part[LANES], den[LANES], num[LANES];
    fetch<T>(w, in, 2, part);
    fetch<T>(w, in, 3, den);
    fetch<T>(w, in, 4, num);
    u64 flags = 0;
    alignas(64) u64 made[LANES], gone[LANES];
    constexpr u32 words = sizeof(T) / 4;
    u64 holes = (holes_of(w, in, 2, words) | holes_of(w, in, 3, words) | holes_of(w, in, 4, words)) & w.exec;
    for (u32 l = 0; l < LANES; ++l) {
        bool flag;
        made[l] = result_bits<T>(w, in, scaled_part(part[l], den[l], num[l], flag));
        flags |= u64(flag) << l;
        gone[l] = holes >> l & 1 ? ~u64(0) : 0;
    }
    store<T>(w, in, made, holes ? gone : nullptr);
    store_mask(w, in.o[1], flags & w.exec, holes);
}

// a * b + c, times 2^by, rounded once.
f32 fma_scaled(f32 a, f32 b, f32 c, int by) {
    f64 product = f64(a) * b, sum = product + c;
    // What the sum lost decides its last bit, so that the second rounding is right.
    f64 back = sum - product, lost = (product - (sum - back)) + (f64(c) - back);
    if (std::isfinite(sum) && lost != 0 && !(bits_of(sum) & 1))
        sum = real64(bits_of(sum) + ((lost > 0) == (sum > 0) ? 1 : -1));
    return f32(std::ldexp(sum, by));
}
f64 fma_scaled(f64 a, f64 b, f64 c, int by) {
#ifdef __SIZEOF_FLOAT128__
    __float128 factor = by > 0 ? 0x1p128 : 0x1p-128;
    if (by) return f64((__float128(a) * b + c) * factor);
#endif
    return std::ldexp(std::fma(a, b, c), by);
}
template <class T> void div_fmas(Wave& w, const Instruction& in) {
    T a[LANES], b[LANES], c[LANES];
    fetch<T>(w, in, 1, a);
    fetch<T>(w, in, 2, b);
    fetch<T>(w, in, 3, c);
    u64 mask = w.s[VCC] | u64(w.s[VCC + 1]) << 32;
    constexpr u32 words = sizeof(T) / 4;
    constexpr int middle = wide<T> ? 1023 : 127, by = wide<T> ? 128 : 64;
    alignas(64) u64 made[LANES], gone[LANES];
    u64 holes = holes_of(w, in, 1, words) | holes_of(w, in, 2, words) | holes_of(w, in, 3, words);
    holes |= w.s_undefined[VCC] | u64(w.s_undefined[VCC + 1]) << 32;
    holes &= w.exec;
    for (u32 l = 0; l < LANES; ++l) {
        int scale = mask >> l & 1 ? (field(c[l]) > middle ? by : -by) : 0;
        T x = scale ? fma_scaled(a[l], b[l], c[l], scale) : std::fma(a[l], b[l], c[l]);
        made[l] = result_bits<T>(w, in, x);
        gone[l] = holes >> l & 1 ? ~u64(0) : 0;
    }
    store<T>(w, in, made, holes ? gone : nullptr);
}

template <class T> T div_fixup(T q, T den, T num) {
    bool minus = std::signbit(den) != std::signbit(num);
    if (nan(num)) return quiet(num);
    if (nan(den)) return quiet(den);
    if ((num == 0 && den == 0) || (std::isinf(num) && std::isinf(den))) return -T(NAN);
    if (den == 0 || std::isinf(num)) return minus ? -T(INFINITY) : T(INFINITY);
    if (std::isinf(den) || num == 0) return minus ? -T(0) : T(0);
    if (field(num) - field(den) < (wide<T> ? -1075 : -150)) return minus ? -T(0) : T(0);
    T x = nan(q) ? T(INFINITY) : std::fabs(q);
    return minus ? -x : x;
}

// 2/pi in 1200 bits, for v_trig_preop_f64.
const u64 TWO_OVER_PI[19] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

f64 trig_preop(f64 x, u32 segment) {
    int shift = int(segment & 31) * 53;
    int e = field(x);
    if (e > 1077) shift += e - 1077;
    u64 got = 0;
    for (int i = 0; i < 53; ++i) {
        int at = shift + i;
        u64 bit = at / 64 < 19 ? TWO_OVER_PI[at / 64] >> (63 - at % 64) & 1 : 0;
        got = got << 1 | bit;
    }
    int scale = -53 - shift + (e >= 1968 ? 128 : 0);
    return std::ldexp(f64(got), scale);
}

template <class T> bool in_class(T x, u32 mask, bool signalling, bool subnormal) {
    bool minus = std::signbit(x);
    u32 bit;
    if (nan(x)) bit = signalling ? 0 : 1;
    else if (std::isinf(x)) bit = minus ? 2 : 9;
    else if (x == 0) bit = minus ? 5 : 6;
    else if (subnormal) bit = minus ? 4 : 7;
    else bit = minus ? 3 : 8;
    return mask >> bit & 1;
}
}  // namespace

bool f32_in_class(u32 b, u32 mask) {
    f32 x = real32(b);
    return in_class(x, mask, !(b & 0x400000), !(b >> 23 & 0xff));
}
bool f64_in_class(u64 b, u32 mask) {
    f64 x = real64(b);
    return in_class(x, mask, !(b >> 51 & 1), !(b >> 52 & 0x7ff));
}
bool f16_in_class(u32 b, u32 mask) {
    return in_class(half_value(b), mask, !(b & 0x200), !(b >> 10 & 0x1f));
}

void vector_real(Table& t) {
    auto add = [&](std::initializer_list<Entry> more) { t.insert(t.end(), more); };
#define BOTH(NAME, BODY) \
    op<f32, f32, f32>("v_" NAME "_f32", [](f32 a, f32 b) -> f32 { using T = f32; (void)sizeof(T); return BODY; }), \
    op<F16, F16, F16>("v_" NAME "_f16", [](f64 a, f64 b) -> f64 { using T = f64; (void)sizeof(T); return BODY; })
    add({BOTH("add", a + b), BOTH("sub", a - b), BOTH("subrev", b - a), BOTH("mul", a * b),
         BOTH("min", least(a, b)), BOTH("max", most(a, b))});
#undef BOTH
    add({
        op<f64, f64, f64>("v_add_f64", [](f64 a, f64 b) { return a + b; }),
        op<f64, f64, f64>("v_mul_f64", [](f64 a, f64 b) { return a * b; }),
        op<f64, f64, f64>("v_min_f64", [](f64 a, f64 b) { return least(a, b); }),
        op<f64, f64, f64>("v_max_f64", [](f64 a, f64 b) { return most(a, b); }),
        op<f32, f32, f32>("v_mul_legacy_f32", [](f32 a, f32 b) { return legacy(a, b); }),
        op<f32, f32, f32, f32>("v_fma_f32", [](f32 a, f32 b, f32 c) { return std::fma(a, b, c); }),
        op<f64, f64, f64, f64>("v_fma_f64", [](f64 a, f64 b, f64 c) { return std::fma(a, b, c); }),
        op<Kept16, F16, F16, F16>("v_fma_f16", [](f64 a, f64 b, f64 c) { return std::fma(a, b, c); }),
        op<f32, f32, f32, f32>("v_fmamk_f32", [](f32 a, f32 b, f32 c) { return std::fma(a, b, c); }),
        op<f32, f32, f32, f32>("v_fmaak_f32", [](f32 a, f32 b, f32 c) { return std::fma(a, b, c); }),
        op<f32, f32, f32, f32>("v_mad_f32", [](f32 a, f32 b, f32 c) { return flushed(flushed(a * b) + c); }),
        op<f32, f32, f32, f32>("v_mad_legacy_f32", [](f32 a, f32 b, f32 c) { return legacy(a, b) + c; }),
        op<f32, f32, f32, f32>("v_min3_f32", [](f32 a, f32 b, f32 c) { return least(least(a, b), c); }),
        op<f32, f32, f32, f32>("v_max3_f32", [](f32 a, f32 b, f32 c) { return most(most(a, b), c); }),
        op<f32, f32, f32, f32>("v_med3_f32", [](f32 a, f32 b, f32 c) { return middle(a, b, c); }),
        op<Kept16, F16, F16, F16>("v_min3_f16", [](f64 a, f64 b, f64 c) { return least(least(a, b), c); }),
        op<Kept16, F16, F16, F16>("v_max3_f16", [](f64 a, f64 b, f64 c) { return most(most(a, b), c); }),
        op<Kept16, F16, F16, F16>("v_med3_f16", [](f64 a, f64 b, f64 c) { return middle(a, b, c); }),
        plain("v_div_scale_f32", div_scale<f32>, 2), plain("v_div_scale_f64", div_scale<f64>, 2),
        plain("v_div_fmas_f32", div_fmas<f32>, 1), plain("v_div_fmas_f64", div_fmas<f64>, 1),
        op<f32, f32, f32, f32>("v_div_fixup_f32", [](f32 a, f32 b, f32 c) { return div_fixup(a, b, c); }),
        op<f64, f64, f64, f64>("v_div_fixup_f64", [](f64 a, f64 b, f64 c) { return div_fixup(a, b, c); }),
        op<Kept16, F16, F16, F16>("v_div_fixup_f16", [](f64 q, f64 b, f64 a) {
            bool minus = std::signbit(b) != std::signbit(a);
            if (nan(a)) return a;
            if (nan(b)) return b;
            if ((a == 0 && b == 0) || (std::isinf(a) && std::isinf(b))) return -f64(NAN);
            f64 x = b == 0 || std::isinf(a) ? INFINITY : std::isinf(b) || a == 0 ? 0.0 : std::fabs(q);
            return minus ? -x : x;
        }),
        op<f64, f64, u32>("v_trig_preop_f64", [](f64 a, u32 b) { return trig_preop(a, b); }),
    });
    // v_fmac and v_mac: the result is also the addend.
    add({
        plain("v_fmac_f32", [](Wave& w, const Instruction& in) {
            static const Entry fma = op<f32, f32, f32, f32>("", [](f32 a, f32 b, f32 c) { return std::fma(a, b, c); });
            Instruction three = in;
            three.o[3] = in.o[0];
            three.o[3].neg = three.o[3].abs = 0;
            three.o[3].part = 6;
            three.operands = 4;
            fma.run(w, three);
        }, 1),
        plain("v_fmac_f64", [](Wave& w, const Instruction& in) {
            static const Entry fma = op<f64, f64, f64, f64>("", [](f64 a, f64 b, f64 c) { return std::fma(a, b, c); });
            Instruction three = in;
            three.o[3] = in.o[0];
            three.o[3].neg = three.o[3].abs = 0;
            three.o[3].part = 6;
            three.operands = 4;
            fma.run(w, three);
        }, 1),
        plain("v_fmac_f16", [](Wave& w, const Instruction& in) {
            static const Entry fma = op<F16, F16, F16, F16>("", [](f64 a, f64 b, f64 c) { return std::fma(a, b, c); });
            Instruction three = in;
            three.o[3] = in.o[0];
            three.o[3].neg = three.o[3].abs = 0;
            three.o[3].part = 6;
            three.operands = 4;
            fma.run(w, three);
        }, 1),
    });
#define ONE(NAME, BODY) \
    op<f32, f32>("v_" NAME "_f32", [](f32 a) -> f32 { return f32(BODY); }), \
    op<f64, f64>("v_" NAME "_f64", [](f64 a) -> f64 { return BODY; }), \
    op<F16, F16>("v_" NAME "_f16", [](f64 a) -> f64 { return BODY; })
    add({ONE("floor", std::floor(a)), ONE("ceil", std::ceil(a)), ONE("trunc", std::trunc(a)),
         ONE("rndne", std::nearbyint(a)), ONE("rcp", 1.0 / f64(a)), ONE("rsq", 1.0 / std::sqrt(f64(a))),
         ONE("sqrt", std::sqrt(f64(a))), ONE("frexp_mant", mantissa(a))});
#undef ONE
    add({
        op<f32, f32>("v_fract_f32", [](f32 a) { return fraction(a); }),
        op<f64, f64>("v_fract_f64", [](f64 a) { return fraction(a); }),
        op<F16, F16>("v_fract_f16", [](f64 a) { f64 r = a - std::floor(a); return std::isinf(a) ? f64(NAN) : r > 0.99951171875 ? 0.99951171875 : r; }),
        op<f32, f32>("v_rcp_iflag_f32", [](f32 a) { return f32(1.0 / f64(a)); }),
        op<f32, f32>("v_exp_f32", [](f32 a) { return f32(std::exp2(f64(a))); }),
        op<f32, f32>("v_log_f32", [](f32 a) { return f32(std::log2(f64(a))); }),
        op<F16, F16>("v_exp_f16", [](f64 a) { return std::exp2(a); }),
        op<F16, F16>("v_log_f16", [](f64 a) { return std::log2(a); }),
        op<f32, f32>("v_exp_legacy_f32", [](f32 a) { return f32(std::exp2(f64(a))); }),
        op<f32, f32>("v_log_legacy_f32", [](f32 a) { return f32(std::log2(f64(a))); }),
        op<f32, f32>("v_sin_f32", [](f32 a) { return f32(sine(a)); }),
        op<f32, f32>("v_cos_f32", [](f32 a) { return f32(cosine(a)); }),
        op<F16, F16>("v_sin_f16", [](f64 a) { return sine(a); }),
        op<F16, F16>("v_cos_f16", [](f64 a) { return cosine(a); }),
        op<i32, f32>("v_frexp_exp_i32_f32", [](f32 a) { return exponent(a); }),
        op<i32, f64>("v_frexp_exp_i32_f64", [](f64 a) { return exponent(a); }),
        op<i16, F16>("v_frexp_exp_i16_f16", [](f64 a) { return exponent(a); }),
        op<f32, f32, i32>("v_ldexp_f32", [](f32 a, i32 b) { return std::ldexp(a, b); }),
        op<f64, f64, i32>("v_ldexp_f64", [](f64 a, i32 b) { return std::ldexp(a, b); }),
        op<F16, F16, i16>("v_ldexp_f16", [](f64 a, i32 b) { return std::ldexp(a, b); }),
    });
}
