// The scalar unit: arithmetic, bits, comparisons. SCC is what it was unless an operation sets it.
#include "tables.hpp"

namespace {
enum Scc { keeps = 0, sets = 1, reads = 2 };

template <class T> T value(const Wave& w, const Operand& o) {
    if constexpr (sizeof(T) == 4) return T(uniform32(w, o, 32, 0));
    u32 low = uniform32(w, o, 64, 0), high = uniform32(w, o, 64, 1);
    if (o.kind == Kind::literal && std::is_same_v<T, i64>) high = i32(low) < 0 ? ~0u : 0;
    return T(low | u64(high) << 32);
}
template <class T> u64 missing(const Wave& w, const Operand& o) {
    u64 u = uniform_undefined(w, o, 0);
    return sizeof(T) == 8 ? u | u64(uniform_undefined(w, o, 1)) << 32 : u;
}
template <class D> void result(Wave& w, const Operand& o, u64 x, u64 undefined) {
    write_scalar(w, o.index, u32(x), u32(undefined));
    if (sizeof(D) == 8) write_scalar(w, o.index + 1, u32(x >> 32), u32(undefined >> 32));
}

// F: of the sources and of SCC, which it may set. D: void for a comparison.
template <class F, class Rule, int S, class D, class... A> struct Scalars {
    template <size_t... I> static void go(Wave& w, const Instruction& in, std::index_sequence<I...>) {
        constexpr u32 first = std::is_void_v<D> ? 0 : 1;
        u32 scc = w.scc;
        u64 made = 0, gone = 0;
        u64 u[] = {missing<A>(w, in.o[first + I])..., 0}, x[] = {u64(value<A>(w, in.o[first + I]))..., 0};
        bool spoilt = (S & reads) && w.scc_undefined;
        for (u64 one : u) spoilt |= one != 0;
        F f{};
        if constexpr (std::is_void_v<D>) {
            f(value<A>(w, in.o[first + I])..., scc);
        } else {
            made = u64(f(value<A>(w, in.o[first + I])..., scc));
            if (sizeof(D) == 4) made = u32(made);
            if (spoilt) gone = (S & reads) && w.scc_undefined ? ~u64(0) : Rule::of(made, u, sizeof...(A), x);
            result<D>(w, in.o[0], made, gone);
        }
        if (!(S & sets)) return;
        w.scc = scc;
        // Of bitwise operations: whether the result is 0, which one known bit that is set settles.
        w.scc_undefined = std::is_same_v<Rule, Everything> ? spoilt : gone && !(made & ~gone);
    }
    static void run(Wave& w, const Instruction& in) { go(w, in, std::index_sequence_for<A...>{}); }
};
template <class D, int S, class... A, class F> Entry so(const char* name, F) {
    return {name, &Scalars<F, Everything, S, D, A...>::run, std::is_void_v<D> ? 0u : 1u};
}
template <class Rule, class D, int S, class... A, class F> Entry soft(const char* name, F) {
    return {name, &Scalars<F, Rule, S, D, A...>::run, 1};
}

template <class T> u32 find(T x, bool bit, bool from_top) {
    constexpr int n = 8 * sizeof(T);
    for (int i = 0; i < n; ++i) {
        int at = from_top ? n - 1 - i : i;
        if (bool(x >> at & 1) == bit) return u32(i);
    }
    return ~0u;
}
template <class T> u32 signbits(T x) {
    constexpr int n = 8 * sizeof(T);
    bool top = x >> (n - 1) & 1;
    for (int i = 1; i < n; ++i)
        if (bool(x >> (n - 1 - i) & 1) != top) return u32(i);
    return ~0u;
}
template <class T> T reverse(T x) {
    T made = 0;
    for (u32 i = 0; i < 8 * sizeof(T); ++i) made |= (x >> i & 1) << (8 * sizeof(T) - 1 - i);
    return made;
}
template <class T> T quads(T x, bool whole) {
    T made = 0;
    for (u32 i = 0; i < 8 * sizeof(T); i += 4)
        if (x >> i & 15) made |= whole ? T(15) << i : T(1) << i / 4;
    return made;
}
template <class T> T field(T x, u32 how) {
    constexpr u32 n = 8 * sizeof(T);
    u32 at = how & (n - 1), width = how >> 16 & 0x7f;
    if (!width) return 0;
    if (at + width >= n) return x >> at;
    using U = std::make_unsigned_t<T>;
    return T(U(x) << (n - width - at)) >> (n - width);
}

template <class F> void saveexec(Wave& w, const Instruction& in, F f) {
    u64 x = value<u64>(w, in.o[1]), u = missing<u64>(w, in.o[1]), old = w.exec;
    u64 made = f(x, old);
    // An undefined bit that doesn't change the result is no matter.
    if (u && (f(x | u, old) != made || f(x & ~u, old) != made)) return fail(w, Fault::undefined_exec);
    result<u64>(w, in.o[0], old, 0);
    w.exec = made;
    w.scc = made != 0;
    w.scc_undefined = 0;
}
template <class F> struct Save {
    static void run(Wave& w, const Instruction& in) { saveexec(w, in, F{}); }
};
template <class F> Entry save(const char* name, F) { return {name, &Save<F>::run, 1}; }

void movrel(Wave& w, const Instruction& in, bool source, u32 words) {
    u32 by = w.s[M0];
    for (u32 i = 0; i < words; ++i) {
        u32 from = in.o[1].index + i + (source ? by : 0), to = in.o[0].index + i + (source ? 0 : by);
        if (from >= SCALARS || to >= SCALARS) return fail(w, Fault::register_range, 0, from);
        bool plain = !source && in.o[1].kind != Kind::scalar;
        write_scalar(w, to, plain ? uniform32(w, in.o[1], 32 * words, i) : read_scalar(w, from),
                     plain ? 0 : scalar_undefined(w, from));
    }
}
void cmov(Wave& w, const Instruction& in, u32 words) {
    if (w.scc_undefined) return fail(w, Fault::undefined_branch);
    if (!w.scc) return;
    for (u32 i = 0; i < words; ++i)
        write_scalar(w, in.o[0].index + i, uniform32(w, in.o[1], 32 * words, i), uniform_undefined(w, in.o[1], i));
}
void bitset(Wave& w, const Instruction& in, bool on, u32 words) {
    u32 at = uniform32(w, in.o[1], 32, 0) & (32 * words - 1), index = in.o[0].index + at / 32, bit = 1u << (at & 31);
    u32 x = read_scalar(w, index);
    write_scalar(w, index, on ? x | bit : x & ~bit, scalar_undefined(w, index) & ~bit);
}
// s_addk_i32 and its like: the result is the first source.
template <class F, int S> struct Constant {
    static void run(Wave& w, const Instruction& in) {
        u32 scc = w.scc, k = in.o[1].as32;
        u64 u = missing<u32>(w, in.o[0]);
        u32 made = F{}(u32(uniform32(w, in.o[0], 32, 0)), k, scc);
        if (S != 4) write_scalar(w, in.o[0].index, made, u ? ~0u : 0);
        if (S & (sets | 4)) w.scc = scc, w.scc_undefined = u != 0;
    }
};
template <int S, class F> Entry ko(const char* name, F) { return {name, &Constant<F, S>::run, S == 4 ? 0u : 1u}; }

template <u32 Low, u32 High> u32 packed(u32 a, u32 b) {
    return ((Low ? a >> 16 : a) & 0xffff) | (High ? b >> 16 : b) << 16;
}
}  // namespace

void scalar_arithmetic(Table& t) {
    auto add = [&](std::initializer_list<Entry> more) { t.insert(t.end(), more); };
    add({
        soft<Bitwise, u32, keeps, u32>("s_mov_b32", [](u32 a, u32&) { return a; }),
        soft<Bitwise, u64, keeps, u64>("s_mov_b64", [](u64 a, u32&) { return a; }),
        soft<Bitwise, u32, keeps, u32>("s_movk_i32", [](u32 a, u32&) { return a; }),
        plain("s_cmov_b32", [](Wave& w, const Instruction& in) { cmov(w, in, 1); }, 1),
        plain("s_cmov_b64", [](Wave& w, const Instruction& in) { cmov(w, in, 2); }, 1),
        plain("s_cmovk_i32", [](Wave& w, const Instruction& in) { cmov(w, in, 1); }, 1),
        so<u32, sets, u32, u32>("s_add_u32", [](u32 a, u32 b, u32& c) { u64 r = u64(a) + b; c = r >> 32 != 0; return u32(r); }),
        so<u32, sets, u32, u32>("s_sub_u32", [](u32 a, u32 b, u32& c) { c = b > a; return a - b; }),
        so<u32, sets | reads, u32, u32>("s_addc_u32", [](u32 a, u32 b, u32& c) { u64 r = u64(a) + b + c; c = r >> 32 != 0; return u32(r); }),
        so<u32, sets | reads, u32, u32>("s_subb_u32", [](u32 a, u32 b, u32& c) { u32 r = a - b - c; c = u64(b) + c > a; return r; }),
        so<i32, sets, i32, i32>("s_add_i32", [](i32 a, i32 b, u32& c) { i32 r; c = __builtin_add_overflow(a, b, &r); return r; }),
        so<i32, sets, i32, i32>("s_sub_i32", [](i32 a, i32 b, u32& c) { i32 r; c = __builtin_sub_overflow(a, b, &r); return r; }),
        so<i32, sets, i32, i32>("s_min_i32", [](i32 a, i32 b, u32& c) { c = a < b; return c ? a : b; }),
        so<u32, sets, u32, u32>("s_min_u32", [](u32 a, u32 b, u32& c) { c = a < b; return c ? a : b; }),
        so<i32, sets, i32, i32>("s_max_i32", [](i32 a, i32 b, u32& c) { c = a >= b; return c ? a : b; }),
        so<u32, sets, u32, u32>("s_max_u32", [](u32 a, u32 b, u32& c) { c = a >= b; return c ? a : b; }),
        so<u32, keeps, u32, u32>("s_mul_i32", [](u32 a, u32 b, u32&) { return a * b; }),
        so<u32, keeps, u32, u32>("s_mul_hi_u32", [](u32 a, u32 b, u32&) { return u32(u64(a) * b >> 32); }),
        so<i32, keeps, i32, i32>("s_mul_hi_i32", [](i32 a, i32 b, u32&) { return i32(i64(a) * b >> 32); }),
        so<u32, sets, u32, u32>("s_lshl1_add_u32", [](u32 a, u32 b, u32& c) { u64 r = (u64(a) << 1) + b; c = r >> 32 != 0; return u32(r); }),
        so<u32, sets, u32, u32>("s_lshl2_add_u32", [](u32 a, u32 b, u32& c) { u64 r = (u64(a) << 2) + b; c = r >> 32 != 0; return u32(r); }),
        so<u32, sets, u32, u32>("s_lshl3_add_u32", [](u32 a, u32 b, u32& c) { u64 r = (u64(a) << 3) + b; c = r >> 32 != 0; return u32(r); }),
        so<u32, sets, u32, u32>("s_lshl4_add_u32", [](u32 a, u32 b, u32& c) { u64 r = (u64(a) << 4) + b; c = r >> 32 != 0; return u32(r); }),
        so<u32, reads, u32, u32>("s_cselect_b32", [](u32 a, u32 b, u32& c) { return c ? a : b; }),
        so<u64, reads, u64, u64>("s_cselect_b64", [](u64 a, u64 b, u32& c) { return c ? a : b; }),
        so<i32, sets, i32, i32>("s_absdiff_i32", [](i32 a, i32 b, u32& c) { i32 r = i32(u32(a) - u32(b)); if (r < 0) r = i32(0u - u32(r)); c = r != 0; return r; }),
        so<i32, sets, i32>("s_abs_i32", [](i32 a, u32& c) { i32 r = a < 0 ? i32(0u - u32(a)) : a; c = r != 0; return r; }),
    });
#define LOGIC(NAME, RULE, BODY) \
    soft<RULE, u32, sets, u32, u32>("s_" NAME "_b32", [](u32 a, u32 b, u32& c) { u32 r = BODY; c = r != 0; return r; }), \
    soft<RULE, u64, sets, u64, u64>("s_" NAME "_b64", [](u64 a, u64 b, u32& c) { u64 r = BODY; c = r != 0; return r; })
    add({LOGIC("and", And, a & b), LOGIC("or", Or, a | b), LOGIC("xor", Bitwise, a ^ b), LOGIC("andn2", AndNot, a & ~b),
         LOGIC("orn2", OrNot, a | ~b), LOGIC("nand", And, ~(a & b)), LOGIC("nor", Or, ~(a | b)), LOGIC("xnor", Bitwise, ~(a ^ b))});
#undef LOGIC
    add({
        so<u32, sets, u32, u32>("s_lshl_b32", [](u32 a, u32 b, u32& c) { u32 r = a << (b & 31); c = r != 0; return r; }),
        so<u32, sets, u32, u32>("s_lshr_b32", [](u32 a, u32 b, u32& c) { u32 r = a >> (b & 31); c = r != 0; return r; }),
        so<i32, sets, i32, u32>("s_ashr_i32", [](i32 a, u32 b, u32& c) { i32 r = a >> (b & 31); c = r != 0; return r; }),
        so<u64, sets, u64, u32>("s_lshl_b64", [](u64 a, u32 b, u32& c) { u64 r = a << (b & 63); c = r != 0; return r; }),
        so<u64, sets, u64, u32>("s_lshr_b64", [](u64 a, u32 b, u32& c) { u64 r = a >> (b & 63); c = r != 0; return r; }),
        so<i64, sets, i64, u32>("s_ashr_i64", [](i64 a, u32 b, u32& c) { i64 r = a >> (b & 63); c = r != 0; return r; }),
        so<u32, sets, u32, u32>("s_bfe_u32", [](u32 a, u32 b, u32& c) { u32 r = field(a, b); c = r != 0; return r; }),
        so<i32, sets, i32, u32>("s_bfe_i32", [](i32 a, u32 b, u32& c) { i32 r = field(a, b); c = r != 0; return r; }),
        so<u64, sets, u64, u32>("s_bfe_u64", [](u64 a, u32 b, u32& c) { u64 r = field(a, b); c = r != 0; return r; }),
        so<i64, sets, i64, u32>("s_bfe_i64", [](i64 a, u32 b, u32& c) { i64 r = field(a, b); c = r != 0; return r; }),
        so<u32, keeps, u32, u32>("s_bfm_b32", [](u32 a, u32 b, u32&) { return ((1u << (a & 31)) - 1) << (b & 31); }),
        so<u64, keeps, u32, u32>("s_bfm_b64", [](u32 a, u32 b, u32&) { return ((u64(1) << (a & 63)) - 1) << (b & 63); }),
        so<u32, sets, u32>("s_not_b32", [](u32 a, u32& c) { c = ~a != 0; return ~a; }),
        so<u64, sets, u64>("s_not_b64", [](u64 a, u32& c) { c = ~a != 0; return ~a; }),
        so<u32, keeps, u32>("s_brev_b32", [](u32 a, u32&) { return reverse(a); }),
        so<u64, keeps, u64>("s_brev_b64", [](u64 a, u32&) { return reverse(a); }),
        so<u32, sets, u32>("s_wqm_b32", [](u32 a, u32& c) { u32 r = quads(a, true); c = r != 0; return r; }),
        so<u64, sets, u64>("s_wqm_b64", [](u64 a, u32& c) { u64 r = quads(a, true); c = r != 0; return r; }),
        so<u32, sets, u32>("s_quadmask_b32", [](u32 a, u32& c) { u32 r = quads(a, false); c = r != 0; return r; }),
        so<u64, sets, u64>("s_quadmask_b64", [](u64 a, u32& c) { u64 r = quads(a, false); c = r != 0; return r; }),
        so<u32, sets, u32>("s_bcnt0_i32_b32", [](u32 a, u32& c) { u32 r = 32 - __builtin_popcount(a); c = r != 0; return r; }),
        so<u32, sets, u64>("s_bcnt0_i32_b64", [](u64 a, u32& c) { u32 r = 64 - __builtin_popcountll(a); c = r != 0; return r; }),
        so<u32, sets, u32>("s_bcnt1_i32_b32", [](u32 a, u32& c) { u32 r = __builtin_popcount(a); c = r != 0; return r; }),
        so<u32, sets, u64>("s_bcnt1_i32_b64", [](u64 a, u32& c) { u32 r = __builtin_popcountll(a); c = r != 0; return r; }),
        so<u32, keeps, u32>("s_ff0_i32_b32", [](u32 a, u32&) { return find(a, false, false); }),
        so<u32, keeps, u64>("s_ff0_i32_b64", [](u64 a, u32&) { return find(a, false, false); }),
        so<u32, keeps, u32>("s_ff1_i32_b32", [](u32 a, u32&) { return find(a, true, false); }),
        so<u32, keeps, u64>("s_ff1_i32_b64", [](u64 a, u32&) { return find(a, true, false); }),
        so<u32, keeps, u32>("s_flbit_i32_b32", [](u32 a, u32&) { return find(a, true, true); }),
        so<u32, keeps, u64>("s_flbit_i32_b64", [](u64 a, u32&) { return find(a, true, true); }),
        so<u32, keeps, u32>("s_flbit_i32", [](u32 a, u32&) { return signbits(a); }),
        so<u32, keeps, u64>("s_flbit_i32_i64", [](u64 a, u32&) { return signbits(a); }),
        so<i32, keeps, u32>("s_sext_i32_i8", [](u32 a, u32&) { return i32(i8(a)); }),
        so<i32, keeps, u32>("s_sext_i32_i16", [](u32 a, u32&) { return i32(i16(a)); }),
        so<u64, keeps, u32>("s_bitreplicate_b64_b32", [](u32 a, u32&) { u64 r = 0; for (u32 i = 0; i < 32; ++i) r |= (a >> i & 1) * u64(3) << 2 * i; return r; }),
        so<u32, keeps, u32, u32>("s_pack_ll_b32_b16", [](u32 a, u32 b, u32&) { return packed<0, 0>(a, b); }),
        so<u32, keeps, u32, u32>("s_pack_lh_b32_b16", [](u32 a, u32 b, u32&) { return packed<0, 1>(a, b); }),
        so<u32, keeps, u32, u32>("s_pack_hh_b32_b16", [](u32 a, u32 b, u32&) { return packed<1, 1>(a, b); }),
        plain("s_bitset0_b32", [](Wave& w, const Instruction& in) { bitset(w, in, false, 1); }, 1),
        plain("s_bitset0_b64", [](Wave& w, const Instruction& in) { bitset(w, in, false, 2); }, 1),
        plain("s_bitset1_b32", [](Wave& w, const Instruction& in) { bitset(w, in, true, 1); }, 1),
        plain("s_bitset1_b64", [](Wave& w, const Instruction& in) { bitset(w, in, true, 2); }, 1),
        plain("s_movrels_b32", [](Wave& w, const Instruction& in) { movrel(w, in, true, 1); }, 1),
        plain("s_movrels_b64", [](Wave& w, const Instruction& in) { movrel(w, in, true, 2); }, 1),
        plain("s_movreld_b32", [](Wave& w, const Instruction& in) { movrel(w, in, false, 1); }, 1),
        plain("s_movreld_b64", [](Wave& w, const Instruction& in) { movrel(w, in, false, 2); }, 1),
    });
#define COMPARE(NAME, OP) \
    so<void, sets, i32, i32>("s_cmp_" NAME "_i32", [](i32 a, i32 b, u32& c) { c = a OP b; }), \
    so<void, sets, u32, u32>("s_cmp_" NAME "_u32", [](u32 a, u32 b, u32& c) { c = a OP b; }), \
    ko<4>("s_cmpk_" NAME "_i32", [](u32 a, u32 b, u32& c) { c = i32(a) OP i32(b); return a; }), \
    ko<4>("s_cmpk_" NAME "_u32", [](u32 a, u32 b, u32& c) { c = a OP b; return a; })
    add({COMPARE("eq", ==), COMPARE("lg", !=), COMPARE("gt", >), COMPARE("ge", >=), COMPARE("lt", <), COMPARE("le", <=)});
#undef COMPARE
    add({
        so<void, sets, u64, u64>("s_cmp_eq_u64", [](u64 a, u64 b, u32& c) { c = a == b; }),
        so<void, sets, u64, u64>("s_cmp_lg_u64", [](u64 a, u64 b, u32& c) { c = a != b; }),
        so<void, sets, u32, u32>("s_bitcmp0_b32", [](u32 a, u32 b, u32& c) { c = !(a >> (b & 31) & 1); }),
        so<void, sets, u32, u32>("s_bitcmp1_b32", [](u32 a, u32 b, u32& c) { c = a >> (b & 31) & 1; }),
        so<void, sets, u64, u32>("s_bitcmp0_b64", [](u64 a, u32 b, u32& c) { c = !(a >> (b & 63) & 1); }),
        so<void, sets, u64, u32>("s_bitcmp1_b64", [](u64 a, u32 b, u32& c) { c = a >> (b & 63) & 1; }),
        ko<sets>("s_addk_i32", [](u32 a, u32 b, u32& c) { i32 r; c = __builtin_add_overflow(i32(a), i32(b), &r); return u32(r); }),
        ko<keeps>("s_mulk_i32", [](u32 a, u32 b, u32&) { return a * b; }),
        save("s_and_saveexec_b64", [](u64 a, u64 e) { return a & e; }), save("s_or_saveexec_b64", [](u64 a, u64 e) { return a | e; }),
        save("s_xor_saveexec_b64", [](u64 a, u64 e) { return a ^ e; }), save("s_andn2_saveexec_b64", [](u64 a, u64 e) { return a & ~e; }),
        save("s_orn2_saveexec_b64", [](u64 a, u64 e) { return a | ~e; }), save("s_nand_saveexec_b64", [](u64 a, u64 e) { return ~(a & e); }),
        save("s_nor_saveexec_b64", [](u64 a, u64 e) { return ~(a | e); }), save("s_xnor_saveexec_b64", [](u64 a, u64 e) { return ~(a ^ e); }),
        save("s_andn1_saveexec_b64", [](u64 a, u64 e) { return ~a & e; }), save("s_orn1_saveexec_b64", [](u64 a, u64 e) { return ~a | e; }),
        plain("s_andn1_wrexec_b64", [](Wave& w, const Instruction& in) { saveexec(w, in, [](u64 a, u64 e) { return ~a & e; }); result<u64>(w, in.o[0], w.exec, 0); }, 1),
        plain("s_andn2_wrexec_b64", [](Wave& w, const Instruction& in) { saveexec(w, in, [](u64 a, u64 e) { return a & ~e; }); result<u64>(w, in.o[0], w.exec, 0); }, 1),
    });
}
