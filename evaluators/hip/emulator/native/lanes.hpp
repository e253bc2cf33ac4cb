// Operations told for one lane become handlers of whole instructions.
#pragma once
#include <tuple>
#include <type_traits>
#include <utility>

#include "formats.hpp"

using f32 = float;
using f64 = double;
struct F16 {};  // computed as double, which is exact, and rounded once
struct Kept16 {};  // a half that leaves the other half of its register as it is
struct KeptU16 {};

template <class T> struct As { using type = T; static constexpr u32 words = sizeof(T) / 4 ? sizeof(T) / 4 : 1, bits = 8 * sizeof(T); };
template <> struct As<F16> { using type = double; static constexpr u32 words = 1, bits = 16; };
template <> struct As<Kept16> { using type = double; static constexpr u32 words = 1, bits = 16; };
template <> struct As<KeptU16> { using type = u32; static constexpr u32 words = 1, bits = 16; };
template <> struct As<u16> { using type = u32; static constexpr u32 words = 1, bits = 16; };
template <> struct As<i16> { using type = i32; static constexpr u32 words = 1, bits = 16; };
template <class T> using value_of = typename As<T>::type;
template <class T> constexpr bool real = std::is_same_v<T, f32> || std::is_same_v<T, f64> ||
                                         std::is_same_v<T, F16> || std::is_same_v<T, Kept16>;
template <class T> constexpr bool half_kept = std::is_same_v<T, Kept16> || std::is_same_v<T, KeptU16>;

// MODE's FP_DENORM: whether denormal sources, or results, become zeros. Of f64 also f16.
inline bool flushes_sources32(const Wave& w) { return !(w.mode >> 4 & 1); }
inline bool flushes_results32(const Wave& w) { return !(w.mode >> 5 & 1); }
inline bool flushes_sources64(const Wave& w) { return !(w.mode >> 6 & 1); }
inline bool flushes_results64(const Wave& w) { return !(w.mode >> 7 & 1); }
inline bool ieee(const Wave& w) { return w.mode >> 9 & 1; }
inline bool clamps_overflow(const Wave& w) { return w.mode >> 23 & 1; }  // FP16_OVFL
inline f32 flushed(f32 x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
inline f64 flushed(f64 x) { return std::fabs(x) < 0x1p-1022 ? std::copysign(0.0, x) : x; }
inline f64 flushed_half(f64 x) { return std::fabs(x) < 0x1p-14 ? std::copysign(0.0, x) : x; }
// The result's multiplier counts only without IEEE rules and denormals.
inline u32 multiplier(const Wave& w, const Instruction& in, bool wide) {
    bool denormals = wide ? !flushes_results64(w) : !flushes_results32(w);
    return ieee(w) || denormals ? 0 : in.omod;
}

template <class T> bool signalling(T x) {
    if constexpr (sizeof(T) == 4) return x != x && !(bits_of(x) & 0x400000);
    else return x != x && !(bits_of(x) >> 51 & 1);
}
template <class T> T quiet(T x) {
    if constexpr (sizeof(T) == 4) return real32(bits_of(x) | 0x400000);
    else return real64(bits_of(x) | u64(1) << 51);
}
// minNum and maxNum of IEEE 754-2008: -0 is less than +0, a signalling NaN comes out quiet.
template <class T> T least(T a, T b) {
    if (signalling(a)) return quiet(a);
    if (signalling(b)) return quiet(b);
    if (a != a) return b;
    if (b != b) return a;
    return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <class T> T most(T a, T b) {
    if (signalling(a)) return quiet(a);
    if (signalling(b)) return quiet(b);
    if (a != a) return b;
    if (b != b) return a;
    return a > b || (a == b && !std::signbit(a)) ? a : b;
}

// Source o[k] as T, with its modifiers.
template <class T> void fetch(Wave& w, const Instruction& in, u32 k, value_of<T>* out) {
    const Operand& o = in.o[k];
    alignas(64) u32 low[LANES];
    constexpr u32 bits = As<T>::bits;
    fetch32(w, in, k, low, false, 0, bits, real<T>);
    if constexpr (bits == 64) {
        alignas(64) u32 high[LANES];
        fetch32(w, in, k, high, false, 1, bits, real<T>);
        if (o.kind == Kind::literal && std::is_same_v<T, i64>)
            for (u32 l = 0; l < LANES; ++l) high[l] = i32(low[l]) < 0 ? ~0u : 0;
        if (o.abs) for (u32 l = 0; l < LANES; ++l) high[l] &= 0x7fffffff;
        if (o.neg) for (u32 l = 0; l < LANES; ++l) high[l] ^= 0x80000000;
        for (u32 l = 0; l < LANES; ++l) {
            u64 x = low[l] | u64(high[l]) << 32;
            memcpy(out + l, &x, 8);
        }
        if constexpr (std::is_same_v<T, f64>)
            if (flushes_sources64(w)) for (u32 l = 0; l < LANES; ++l) out[l] = flushed(out[l]);
    } else if constexpr (bits == 16) {
        bool high = in.op_sel >> (k - results_of(in)) & 1;
        for (u32 l = 0; l < LANES; ++l) {
            u32 x = (high ? low[l] >> 16 : low[l]) & 0xffff;
            if constexpr (real<T>) {
                if (o.abs) x &= 0x7fff;
                if (o.neg) x ^= 0x8000;
                out[l] = half_value(x);
                if (flushes_sources64(w)) out[l] = flushed_half(out[l]);
            } else if constexpr (std::is_signed_v<value_of<T>>) {
                out[l] = i16(x);
            } else {
                out[l] = x;
            }
        }
    } else {
        if constexpr (real<T>) {
            if (o.abs) for (u32 l = 0; l < LANES; ++l) low[l] &= 0x7fffffff;
            if (o.neg) for (u32 l = 0; l < LANES; ++l) low[l] ^= 0x80000000;
        }
        memcpy(out, low, sizeof low);
        if constexpr (std::is_same_v<T, f32>)
            if (flushes_sources32(w)) for (u32 l = 0; l < LANES; ++l) out[l] = flushed(out[l]);
    }
}

template <class T> T scaled(T x, u32 omod) {
    return omod == 0 ? x : omod == 1 ? x * 2 : omod == 2 ? x * 4 : x / 2;
}
template <class T> T clamped(T x) { return x > 0 ? (x < 1 ? x : T(1)) : T(0); }  // NaN: 0

template <class T> u64 saturated(i64 x) {
    constexpr i64 most = std::is_same_v<T, u32> ? 0xffffffffll : std::is_same_v<T, i32> ? 0x7fffffff
                         : std::is_same_v<T, i16> ? 0x7fff : 0xffff;
    constexpr i64 least = std::is_same_v<T, i32> ? -0x80000000ll : std::is_same_v<T, i16> ? -0x8000 : 0;
    return x > most ? most : x < least ? least : x;
}

// What an operation returned, as the bits of result type D.
template <class D, class R> u64 result_bits(const Wave& w, const Instruction& in, R x) {
    if constexpr (std::is_same_v<D, f32>) {
        f32 y = scaled(f32(x), multiplier(w, in, false));
        if (in.flags & CLAMPED) y = clamped(y);
        if (flushes_results32(w)) y = flushed(y);
        return bits_of(y);
    } else if constexpr (std::is_same_v<D, f64>) {
        f64 y = scaled(f64(x), multiplier(w, in, true));
        if (in.flags & CLAMPED) y = clamped(y);
        return bits_of(flushes_results64(w) ? flushed(y) : y);
    } else if constexpr (std::is_same_v<D, F16> || std::is_same_v<D, Kept16>) {
        u32 omod = multiplier(w, in, true);
        f64 y = omod ? scaled(half_value(half_bits(x)), omod) : f64(x);
        if (in.flags & CLAMPED) y = clamped(y);
        u32 bits = half_bits(y);
        if (flushes_results64(w) && !(bits & 0x7c00)) bits &= 0x8000;
        if (clamps_overflow(w) && (bits & 0x7fff) == HALF.infinity && !std::isinf(y)) --bits;
        return bits;
    } else if constexpr (std::is_same_v<R, i64> && !std::is_same_v<D, i64> && !std::is_same_v<D, u64>) {
        if (in.flags & CLAMPED) x = i64(saturated<D>(x));
        return As<D>::bits == 16 ? u64(x) & 0xffff : u64(u32(x));
    } else {
        return As<D>::bits == 16 ? u64(x) & 0xffff : As<D>::bits == 32 ? u64(u32(x)) : u64(x);
    }
}

// Bits that are undefined in a result, from those of its sources.
struct Everything {  // one bit of any source spoils all
    template <class... V> static u64 of(u64, const u64* u, u32 n, const u64*) {
        u64 any = 0;
        for (u32 i = 0; i < n; ++i) any |= u[i];
        return any ? ~u64(0) : 0;
    }
};
struct Upward {  // sums and products: carries go upward
    static u64 of(u64, const u64* u, u32 n, const u64*) {
        u64 any = 0;
        for (u32 i = 0; i < n; ++i) any |= u[i];
        return any ? ~((any & -any) - 1) : 0;
    }
};
struct Bitwise {
    static u64 of(u64, const u64* u, u32 n, const u64*) {
        u64 any = 0;
        for (u32 i = 0; i < n; ++i) any |= u[i];
        return any;
    }
};
struct And {
    static u64 of(u64, const u64* u, u32, const u64* x) {
        return (u[0] & (x[1] | u[1])) | (u[1] & (x[0] | u[0]));
    }
};
struct Or {
    static u64 of(u64, const u64* u, u32, const u64* x) {
        return (u[0] & (~x[1] | u[1])) | (u[1] & (~x[0] | u[0]));
    }
};

struct AndNot {  // a & ~b
    static u64 of(u64, const u64* u, u32, const u64* x) {
        return (u[0] & (~x[1] | u[1])) | (u[1] & (x[0] | u[0]));
    }
};
struct OrNot {  // a | ~b
    static u64 of(u64, const u64* u, u32, const u64* x) {
        return (u[0] & (x[1] | u[1])) | (u[1] & (~x[0] | u[0]));
    }
};

template <class T> void shadow(Wave& w, const Instruction& in, u32 k, u64* out) {
    u32 word[LANES];
    fetch32(w, in, k, word, true, 0);
    bool half = As<T>::bits == 16, upper = half && (in.op_sel >> (k - results_of(in)) & 1);
    for (u32 l = 0; l < LANES; ++l)
        out[l] = half ? (upper ? word[l] >> 16 : word[l] & 0xffff) : word[l];
    if constexpr (As<T>::bits == 64) {
        fetch32(w, in, k, word, true, 1);
        for (u32 l = 0; l < LANES; ++l) out[l] |= u64(word[l]) << 32;
    }
}
template <class V> u64 raw(V x) {
    if constexpr (std::is_same_v<V, f32> || std::is_same_v<V, f64>) return bits_of(x);
    else if constexpr (sizeof(V) == 4) return u32(x);
    else return u64(x);
}

// Write D's bits: halves that are kept or, by op_sel, the upper ones.
template <class D> void store(Wave& w, const Instruction& in, const u64* x, const u64* holes) {
    u64 lanes = written_lanes(w, in);
    alignas(64) u32 low[LANES], gone[LANES];
    for (u32 l = 0; l < LANES; ++l) low[l] = u32(x[l]);
    if (holes) for (u32 l = 0; l < LANES; ++l) gone[l] = u32(holes[l]);
    if constexpr (As<D>::bits == 16) {
        u32 sources = in.operands - 1;
        bool upper = in.op_sel >> (sources < 3 ? sources : 3) & 1 || in.op_sel >> 3 & 1;
        upper = in.op_sel >> 3 & 1;
        if ((upper || half_kept<D>) && !(in.flags & SDWA)) {
            u32 r = register_of(w, in, 0, 0);
            u32 keep = upper ? 0xffff : 0xffff0000, shift = upper ? 16 : 0;
            const u32* old = w.v + r * LANES;
            for (u32 l = 0; l < LANES; ++l) {
                low[l] = (old[l] & keep) | (low[l] & 0xffff) << shift;
                u32 was = w.holes[r] >> l & 1 ? w.undefined[r * LANES + l] & keep : 0;
                gone[l] = was | (holes ? (u32(holes[l]) & 0xffff) << shift : 0);
            }
            return put32(w, r, low, lanes, gone);
        }
        if (holes) for (u32 l = 0; l < LANES; ++l) gone[l] &= 0xffff;
    }
    store32(w, in, 0, low, lanes, holes ? gone : nullptr);
    if constexpr (As<D>::bits == 64) {
        for (u32 l = 0; l < LANES; ++l) low[l] = u32(x[l] >> 32);
        if (holes) for (u32 l = 0; l < LANES; ++l) gone[l] = u32(holes[l] >> 32);
        store32(w, in, 0, low, lanes, holes ? gone : nullptr, 1);
    }
}

template <class F, class Rule, class D, class... S> struct Lanewise {
    template <size_t... I>
    static void go(Wave& w, const Instruction& in, std::index_sequence<I...>) {
        constexpr u32 n = sizeof...(S);
        std::tuple<value_of<S>[LANES]...> x;
        (fetch<S>(w, in, 1 + I, std::get<I>(x)), ...);
        F f{};
        u64 holes = 0;
        ((holes |= holes_of(w, in, 1 + I, As<S>::words)), ...);
        // Most instructions are of 32 bits, without modifiers: a loop that becomes vector code.
        constexpr bool direct = As<D>::bits == 32;
        if constexpr (direct) {
            bool flushes = std::is_same_v<D, f32> && flushes_results32(w);
            if (!(holes & w.exec) && !(in.flags & CLAMPED) && !in.omod && !flushes) {
                alignas(64) u32 quick[LANES];
                for (u32 l = 0; l < LANES; ++l) {
                    auto y = f(std::get<I>(x)[l]...);
                    if constexpr (std::is_same_v<D, f32>) quick[l] = bits_of(f32(y));
                    else quick[l] = u32(y);
                }
                return store32(w, in, 0, quick, written_lanes(w, in));
            }
        }
        alignas(64) u64 made[LANES];
        for (u32 l = 0; l < LANES; ++l) made[l] = result_bits<D>(w, in, f(std::get<I>(x)[l]...));
        if (!(holes & w.exec)) return store<D>(w, in, made, nullptr);
        u64 missing[n ? n : 1][LANES], gone[LANES];
        (shadow<S>(w, in, 1 + I, missing[I]), ...);
        for (u32 l = 0; l < LANES; ++l) {
            u64 u[] = {missing[I][l]...}, v[] = {raw(std::get<I>(x)[l])...};
            if constexpr (std::is_same_v<Rule, F>) gone[l] = f.undefined(u, v);
            else gone[l] = Rule::of(made[l], u, n, v);
        }
        store<D>(w, in, made, gone);
    }
    static void run(Wave& w, const Instruction& in) { go(w, in, std::index_sequence_for<S...>{}); }
};

template <class Rule, class D, class... S, class F> Entry lanewise(const char* name, F) {
    return {name, &Lanewise<F, Rule, D, S...>::run, 1};
}
// Any undefined bit spoils the result.
template <class D, class... S, class F> Entry op(const char* name, F f) {
    return lanewise<Everything, D, S...>(name, f);
}
// The name, and as many leading operands as are written.
inline Entry plain(const char* name, Handler run, u32 results) { return {name, run, results}; }

using Table = std::vector<Entry>;
