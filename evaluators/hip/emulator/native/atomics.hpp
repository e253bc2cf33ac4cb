// Atomic operations, of global memory and of LDS.
#pragma once
#include "lanes.hpp"
#include "memory.hpp"

// Of the value that is there, and the operand (compare-and-swap: source and what is expected).
using Change = u64 (*)(u64 old, u64 data, u64 expected);

// memory, lds: its names there; null: none.
struct Atomic {
    const char* memory;
    const char* lds;
    u32 bytes;
    bool compares;
    Change change;
};

template <class T> T as(u64 x) {
    if constexpr (std::is_same_v<T, f32>) return real32(u32(x));
    else if constexpr (std::is_same_v<T, f64>) return real64(x);
    else return T(x);
}
template <class T> u64 back(T x) { return raw(x); }
template <class T> u64 sum(u64 a, u64 b, u64) { return back<T>(as<T>(a) + as<T>(b)); }
template <class T> u64 minus(u64 a, u64 b, u64) { return back<T>(as<T>(a) - as<T>(b)); }
template <class T> u64 reverse_minus(u64 a, u64 b, u64) { return back<T>(as<T>(b) - as<T>(a)); }
template <class T> u64 smaller(u64 a, u64 b, u64) {
    T x = as<T>(a), y = as<T>(b);
    return x != x ? b : y != y ? a : back<T>(y < x ? y : x);
}
template <class T> u64 larger(u64 a, u64 b, u64) {
    T x = as<T>(a), y = as<T>(b);
    return x != x ? b : y != y ? a : back<T>(y > x ? y : x);
}
inline u64 all_of(u64 a, u64 b, u64) { return a & b; }
inline u64 any_of(u64 a, u64 b, u64) { return a | b; }
inline u64 one_of(u64 a, u64 b, u64) { return a ^ b; }
inline u64 exchange(u64, u64 b, u64) { return b; }
inline u64 compare_swap(u64 a, u64 b, u64 expected) { return a == expected ? b : a; }
template <class T> u64 count_up(u64 a, u64 b, u64) { return T(a) >= T(b) ? 0 : T(T(a) + 1); }
template <class T> u64 count_down(u64 a, u64 b, u64) { return T(a) == 0 || T(a) > T(b) ? T(b) : T(T(a) - 1); }
template <const Format& F> u64 pair_sum(u64 a, u64 b, u64) {
    u32 made = 0;
    for (u32 i = 0; i < 32; i += 16)
        made |= encode(decode(u32(a >> i) & 0xffff, F) + decode(u32(b >> i) & 0xffff, F), F) << i;
    return made;
}

constexpr Atomic ATOMICS[] = {
    {"swap", "wrxchg_b32", 4, false, exchange}, {"swap_x2", "wrxchg_b64", 8, false, exchange},
    {"cmpswap", "cmpst_b32", 4, true, compare_swap}, {"cmpswap_x2", "cmpst_b64", 8, true, compare_swap},
    {"add", "add_u32", 4, false, sum<u32>}, {"add_x2", "add_u64", 8, false, sum<u64>},
    {"sub", "sub_u32", 4, false, minus<u32>}, {"sub_x2", "sub_u64", 8, false, minus<u64>},
    {nullptr, "rsub_u32", 4, false, reverse_minus<u32>}, {nullptr, "rsub_u64", 8, false, reverse_minus<u64>},
    {"smin", "min_i32", 4, false, smaller<i32>}, {"smin_x2", "min_i64", 8, false, smaller<i64>},
    {"umin", "min_u32", 4, false, smaller<u32>}, {"umin_x2", "min_u64", 8, false, smaller<u64>},
    {"smax", "max_i32", 4, false, larger<i32>}, {"smax_x2", "max_i64", 8, false, larger<i64>},
    {"umax", "max_u32", 4, false, larger<u32>}, {"umax_x2", "max_u64", 8, false, larger<u64>},
    {"and", "and_b32", 4, false, all_of}, {"and_x2", "and_b64", 8, false, all_of},
    {"or", "or_b32", 4, false, any_of}, {"or_x2", "or_b64", 8, false, any_of},
    {"xor", "xor_b32", 4, false, one_of}, {"xor_x2", "xor_b64", 8, false, one_of},
    {"inc", "inc_u32", 4, false, count_up<u32>}, {"inc_x2", "inc_u64", 8, false, count_up<u64>},
    {"dec", "dec_u32", 4, false, count_down<u32>}, {"dec_x2", "dec_u64", 8, false, count_down<u64>},
    {"add_f32", "add_f32", 4, false, sum<f32>}, {"add_f64", "add_f64", 8, false, sum<f64>},
    {"min_f64", "min_f64", 8, false, smaller<f64>}, {"max_f64", "max_f64", 8, false, larger<f64>},
    {nullptr, "min_f32", 4, false, smaller<f32>}, {nullptr, "max_f32", 4, false, larger<f32>},
    {"pk_add_f16", "pk_add_f16", 4, false, pair_sum<HALF>}, {"pk_add_bf16", "pk_add_bf16", 4, false, pair_sum<BFLOAT>},
};

// data: the operand's number. expected: of a compare-and-swap: in memory's forms the registers
// after the data's own (the same number), in LDS's forms an operand before; ~0: none.
inline void atomic_lanes(Wave& w, const Instruction& in, Space space, const Atomic& how, u32 data, u32 expected,
                         const u64* at, u64 lanes, bool returns, bool expected_first) {
    u32 words = how.bytes / 4;
    u32 x[4][LANES] = {}, gone[2][LANES] = {}, old[2][LANES] = {}, was[2][LANES] = {};
    u64 holes = holes_of(w, in, data, words) & lanes;
    for (u32 i = 0; i < words; ++i) {
        fetch32(w, in, data, x[i], false, i);
        if (how.compares) fetch32(w, in, expected, x[2 + i], false, expected_first ? i : words + i);
    }
    count_lines(w, space, at, lanes, how.bytes);
    w.atomic = true;
    w.learns = returns;
    bool global = false;
    for (u32 i = 0; i < words && holes; ++i) fetch32(w, in, data, gone[i], true, i);
    for (; lanes; lanes &= lanes - 1) {
        u32 l = __builtin_ctzll(lanes);
        Place place;
        if (at[l] % how.bytes) return fail(w, Fault::misaligned, l, at[l], how.bytes, 1);
        u64 offset = space == Space::flat ? at[l] - SHARED_BASE : at[l];
        u64 mine = x[0][l] | u64(x[1][l]) << 32, wanted = x[2][l] | u64(x[3][l]) << 32;
        if (returns && space != Space::global && offset + how.bytes <= w.block->lds.size()) {
            u64 there = read_bytes(w.block->lds.data() + offset, how.bytes);
            w.idle = how.change(there, mine, wanted) == there;  // as where a lock is taken
        }
        if (!place_of(w, space, at[l], how.bytes, true, l, place)) return;
        u64 here = read_bytes(place.bytes, how.bytes);
        u64 hole = undefined_at(w, place, how.bytes);
        u64 made = how.change(here, mine, wanted);
        global |= !place.undefined;
        bool known = ~gone[0][l] || (words == 2 && ~gone[1][l]);
        if (!known && !place.undefined) return fail(w, Fault::undefined_store, l, at[l], how.bytes, 1);
        bool spoilt = (how.change == exchange ? 0 : hole) || (holes >> l & 1);
        write_place(w, place, made, how.bytes, spoilt ? ~u64(0) : 0);
        for (u32 i = 0; i < words; ++i) {
            old[i][l] = u32(here >> 32 * i);
            was[i][l] = u32(hole >> 32 * i);
        }
    }
    if (global) order_by_global(w);
    else ++w.known.of[w.index];
    w.atomic = w.idle = false;
    if (!returns) return;
    for (u32 i = 0; i < words; ++i) put32(w, register_of(w, in, 0, i), old[i], w.exec, was[i]);
}
