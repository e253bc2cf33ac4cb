// Packed halves, packed pairs of 32 bits, mixed precision, and dot products.
#include "tables.hpp"

namespace {
// The half of source number i that makes the low (0) or high (1) half of the result.
inline u32 half_of(const Instruction& in, u32 x, u32 i, u32 high) {
    u32 select = high ? in.op_sel_hi : in.op_sel;
    return (select >> i & 1 ? x >> 16 : x) & 0xffff;
}
inline bool negated(const Instruction& in, u32 i, u32 high) {
    return (high ? in.neg_hi : in.neg_lo) >> i & 1;
}

// F: on T's value_of, by halves; T is F16, u16 or i16.
template <class F, class T, u32 N> struct Halves {
    static void run(Wave& w, const Instruction& in) {
        u32 x[3][LANES] = {}, made[LANES] = {}, gone[LANES] = {};
        u64 holes = 0;
        for (u32 i = 0; i < N; ++i) {
            fetch32(w, in, 1 + i, x[i], false, 0, real<T> ? 16 : 32);
            holes |= holes_of(w, in, 1 + i);
        }
        F f{};
        for (u32 high = 0; high < 2; ++high)
            for (u32 l = 0; l < LANES; ++l) {
                value_of<T> v[3] = {};
                for (u32 i = 0; i < N; ++i) {
                    u32 h = half_of(in, x[i][l], i, high);
                    if constexpr (real<T>) v[i] = half_value(negated(in, i, high) ? h ^ 0x8000 : h);
                    else if constexpr (std::is_same_v<T, i16>) v[i] = i16(h);
                    else v[i] = h;
                }
                u64 bits;
                if constexpr (N == 1) bits = result_bits<T>(w, in, f(v[0]));
                else if constexpr (N == 2) bits = result_bits<T>(w, in, f(v[0], v[1]));
                else bits = result_bits<T>(w, in, f(v[0], v[1], v[2]));
                made[l] |= u32(bits & 0xffff) << 16 * high;
            }
        if (!(holes & w.exec)) return put32(w, register_of(w, in, 0, 0), made, w.exec);
        for (u32 i = 0; i < N; ++i) {
            u32 u[LANES];
            fetch32(w, in, 1 + i, u, true);
            for (u32 l = 0; l < LANES; ++l)
                for (u32 high = 0; high < 2; ++high)
                    if (half_of(in, u[l], i, high)) gone[l] |= 0xffffu << 16 * high;
        }
        put32(w, register_of(w, in, 0, 0), made, w.exec, gone);
    }
};
template <class T, u32 N, class F> Entry halves(const char* name, F) { return {name, &Halves<F, T, N>::run, 1}; }

// F: on f32, for both registers of pairs.
template <class F, u32 N> struct Pairs {
    static void run(Wave& w, const Instruction& in) {
        u32 x[3][2][LANES], u[3][2][LANES], made[2][LANES], gone[2][LANES] = {};
        u64 holes = 0;
        for (u32 i = 0; i < N; ++i) {
            const Operand& o = in.o[1 + i];
            if (constant(o.kind) && o.as32 && in.op_sel_hi >> i & 1)
                return unsupported(w, "a packed operation whose upper half is of a constant");
            for (u32 word = 0; word < 2; ++word) fetch32(w, in, 1 + i, x[i][word], false, constant(o.kind) ? 0 : word);
            holes |= holes_of(w, in, 1 + i, 2);
        }
        if (holes &= w.exec)
            for (u32 i = 0; i < N; ++i)
                for (u32 word = 0; word < 2; ++word) fetch32(w, in, 1 + i, u[i][word], true, word);
        F f{};
        for (u32 high = 0; high < 2; ++high)
            for (u32 l = 0; l < LANES; ++l) {
                f32 v[3] = {};
                for (u32 i = 0; i < N; ++i) {
                    u32 word = (high ? in.op_sel_hi : in.op_sel) >> i & 1;
                    u32 b = x[i][word][l] ^ (negated(in, i, high) ? 0x80000000 : 0);
                    v[i] = flushes_sources32(w) ? flushed(real32(b)) : real32(b);
                    if (holes && u[i][word][l]) gone[high][l] = ~0u;
                }
                made[high][l] = u32(result_bits<f32>(w, in, f(v[0], v[1], v[2])));
            }
        for (u32 high = 0; high < 2; ++high)
            put32(w, register_of(w, in, 0, high), made[high], w.exec, holes ? gone[high] : nullptr);
    }
};
template <u32 N, class F> Entry pairs(const char* name, F) { return {name, &Pairs<F, N>::run, 1}; }

void pk_mov(Wave& w, const Instruction& in) {
    u32 made[2][LANES], gone[2][LANES];
    for (u32 i = 0; i < 2; ++i) {
        u32 word = in.op_sel >> i & 1;
        fetch32(w, in, 1 + i, made[i], false, word);
        fetch32(w, in, 1 + i, gone[i], true, word);
    }
    for (u32 i = 0; i < 2; ++i) put32(w, register_of(w, in, 0, i), made[i], w.exec, gone[i]);
}

// v_fma_mix: each source is f32, or by op_sel_hi a half of its register. Where: 0 f32, 1 low, 2 high.
template <u32 Where> void mix(Wave& w, const Instruction& in) {
    f64 v[3][LANES];
    u64 holes = 0;
    for (u32 i = 0; i < 3; ++i) {
        u32 x[LANES], u[LANES];
        const Operand& o = in.o[1 + i];
        bool half = in.op_sel_hi >> i & 1;
        u32 shift = half && (in.op_sel >> i & 1) ? 16 : 0;
        fetch32(w, in, 1 + i, x, false, 0, half ? 16 : 32);
        if (holes_of(w, in, 1 + i)) {
            fetch32(w, in, 1 + i, u, true);
            for (u32 l = 0; l < LANES; ++l)
                if (half ? u[l] >> shift & 0xffff : u[l]) holes |= u64(1) << l;
        }
        for (u32 l = 0; l < LANES; ++l) {
            f64 y = half ? half_value(x[l] >> shift) : f64(real32(x[l]));
            if (o.abs) y = std::fabs(y);
            v[i][l] = o.neg ? -y : y;
        }
    }
    u32 r = register_of(w, in, 0, 0), made[LANES], gone[LANES];
    u32 shift = Where == 2 ? 16 : 0, mine = Where ? 0xffffu << shift : ~0u;
    for (u32 l = 0; l < LANES; ++l) {
        f32 y = std::fma(f32(v[0][l]), f32(v[1][l]), f32(v[2][l]));
        if (in.flags & CLAMPED) y = clamped(y);
        u32 bits = Where ? half_bits(y) : bits_of(y);
        made[l] = (w.v[r * LANES + l] & ~mine) | (bits << shift & mine);
        u32 was = w.holes[r] >> l & 1 ? w.undefined[r * LANES + l] & ~mine : 0;
        gone[l] = was | (holes >> l & 1 ? mine : 0);
    }
    put32(w, r, made, w.exec, gone);
}

// Products of B-bit parts, summed onto c. T: u32 or i32.
template <class T, u32 B> T dot(u32 a, u32 b) {
    T sum = 0;
    for (u32 i = 0; i < 32; i += B) {
        T x = T(a << (32 - B - i)) >> (32 - B), y = T(b << (32 - B - i)) >> (32 - B);
        sum += x * y;
    }
    return sum;
}
f32 dot2(u32 a, u32 b, f32 c) {
    return f32(half_value(a) * half_value(b) + half_value(a >> 16) * half_value(b >> 16) + c);
}
void dot2_negated(Wave& w, const Instruction& in) {
    u32 a[LANES], b[LANES], gone[LANES];
    f32 c[LANES];
    alignas(64) u32 made[LANES];
    fetch32(w, in, 1, a);
    fetch32(w, in, 2, b);
    fetch<f32>(w, in, 3, c);
    auto signs = [&](u32 i) { return (negated(in, i, 0) ? 0x8000u : 0) | (negated(in, i, 1) ? 0x80000000u : 0); };
    u64 holes = (holes_of(w, in, 1) | holes_of(w, in, 2) | holes_of(w, in, 3)) & w.exec;
    for (u32 l = 0; l < LANES; ++l) {
        f32 addend = negated(in, 2, 0) ? -c[l] : c[l];
        made[l] = u32(result_bits<f32>(w, in, dot2(a[l] ^ signs(0), b[l] ^ signs(1), addend)));
        gone[l] = holes >> l & 1 ? ~0u : 0;
    }
    put32(w, register_of(w, in, 0, 0), made, w.exec, holes ? gone : nullptr);
}
// The addend is the result itself.
template <class F, class T> struct Onto {
    static void run(Wave& w, const Instruction& in) {
        Instruction three = in;
        three.o[3] = in.o[0];
        three.o[3].neg = three.o[3].abs = 0;
        three.operands = 4;
        Lanewise<F, Everything, T, u32, u32, T>::run(w, three);
    }
};
template <class T, class F> Entry onto(const char* name, F) { return {name, &Onto<F, T>::run, 1}; }
}  // namespace

void vector_packed(Table& t) {
    auto add = [&](std::initializer_list<Entry> more) { t.insert(t.end(), more); };
    add({
        halves<F16, 2>("v_pk_add_f16", [](f64 a, f64 b) { return a + b; }),
        halves<F16, 2>("v_pk_mul_f16", [](f64 a, f64 b) { return a * b; }),
        halves<F16, 2>("v_pk_min_f16", [](f64 a, f64 b) { return least(a, b); }),
        halves<F16, 2>("v_pk_max_f16", [](f64 a, f64 b) { return most(a, b); }),
        halves<F16, 3>("v_pk_fma_f16", [](f64 a, f64 b, f64 c) { return std::fma(a, b, c); }),
        halves<u16, 2>("v_pk_add_u16", [](u32 a, u32 b) { return i64(a) + b; }),
        halves<u16, 2>("v_pk_sub_u16", [](u32 a, u32 b) { return i64(a) - b; }),
        halves<i16, 2>("v_pk_add_i16", [](i32 a, i32 b) { return i64(a) + b; }),
        halves<i16, 2>("v_pk_sub_i16", [](i32 a, i32 b) { return i64(a) - b; }),
        halves<u16, 2>("v_pk_mul_lo_u16", [](u32 a, u32 b) { return a * b; }),
        halves<u16, 2>("v_pk_min_u16", [](u32 a, u32 b) { return a < b ? a : b; }),
        halves<u16, 2>("v_pk_max_u16", [](u32 a, u32 b) { return a > b ? a : b; }),
        halves<i16, 2>("v_pk_min_i16", [](i32 a, i32 b) { return a < b ? a : b; }),
        halves<i16, 2>("v_pk_max_i16", [](i32 a, i32 b) { return a > b ? a : b; }),
        halves<u16, 2>("v_pk_lshlrev_b16", [](u32 a, u32 b) { return b << (a & 15); }),
        halves<u16, 2>("v_pk_lshrrev_b16", [](u32 a, u32 b) { return b >> (a & 15); }),
        halves<i16, 2>("v_pk_ashrrev_i16", [](i32 a, i32 b) { return b >> (a & 15); }),
        halves<u16, 3>("v_pk_mad_u16", [](u32 a, u32 b, u32 c) { return i64(a) * b + c; }),
        halves<i16, 3>("v_pk_mad_i16", [](i32 a, i32 b, i32 c) { return i64(a) * b + c; }),
        pairs<2>("v_pk_add_f32", [](f32 a, f32 b, f32) { return a + b; }),
        pairs<2>("v_pk_mul_f32", [](f32 a, f32 b, f32) { return a * b; }),
        pairs<3>("v_pk_fma_f32", [](f32 a, f32 b, f32 c) { return std::fma(a, b, c); }),
        plain("v_pk_mov_b32", pk_mov, 1),
        plain("v_fma_mix_f32", mix<0>, 1), plain("v_fma_mixlo_f16", mix<1>, 1), plain("v_fma_mixhi_f16", mix<2>, 1),
        plain("v_dot2_f32_f16", dot2_negated, 1),
        op<i32, u32, u32, i32>("v_dot2_i32_i16", [](u32 a, u32 b, i32 c) { return i64(dot<i32, 16>(a, b)) + c; }),
        op<u32, u32, u32, u32>("v_dot2_u32_u16", [](u32 a, u32 b, u32 c) { return i64(dot<u32, 16>(a, b)) + c; }),
        op<i32, u32, u32, i32>("v_dot4_i32_i8", [](u32 a, u32 b, i32 c) { return i64(dot<i32, 8>(a, b)) + c; }),
        op<u32, u32, u32, u32>("v_dot4_u32_u8", [](u32 a, u32 b, u32 c) { return i64(dot<u32, 8>(a, b)) + c; }),
        op<i32, u32, u32, i32>("v_dot8_i32_i4", [](u32 a, u32 b, i32 c) { return i64(dot<i32, 4>(a, b)) + c; }),
        op<u32, u32, u32, u32>("v_dot8_u32_u4", [](u32 a, u32 b, u32 c) { return i64(dot<u32, 4>(a, b)) + c; }),
        onto<f32>("v_dot2c_f32_f16", [](u32 a, u32 b, f32 c) { return dot2(a, b, c); }),
        onto<i32>("v_dot2c_i32_i16", [](u32 a, u32 b, i32 c) { return i64(dot<i32, 16>(a, b)) + c; }),
        onto<i32>("v_dot4c_i32_i8", [](u32 a, u32 b, i32 c) { return i64(dot<i32, 8>(a, b)) + c; }),
        onto<i32>("v_dot8c_i32_i4", [](u32 a, u32 b, i32 c) { return i64(dot<i32, 4>(a, b)) + c; }),
    });
}
