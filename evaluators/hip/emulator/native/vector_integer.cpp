// Integer arithmetic of the vector unit.
#include "lanes.hpp"
#include "tables.hpp"

namespace {
template <class T> T median(T a, T b, T c) {
    T low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}
i64 sext24(u32 x) { return i32(x << 8) >> 8; }
u32 sad8(u32 a, u32 b, u32 c) {
    for (u32 i = 0; i < 32; i += 8) {
        i32 d = i32(a >> i & 0xff) - i32(b >> i & 0xff);
        c += d < 0 ? -d : d;
    }
    return c;
}

// v_add_co_u32 and those with a carry in: result, mask of carries, sources.
template <int Sign, bool Swapped, bool CarryIn> void carried(Wave& w, const Instruction& in) {
    u32 a[LANES], b[LANES], made[LANES], gone[LANES];
    fetch32(w, in, 2, a);
    fetch32(w, in, 3, b);
    u64 carry = CarryIn ? load_mask(w, in.o[4]) : 0, out = 0, lanes = written_lanes(w, in);
    u64 spoilt = CarryIn ? mask_undefined(w, in.o[4]) : 0;
    u64 holes = holes_of(w, in, 2) | holes_of(w, in, 3) | spoilt;
    for (u32 l = 0; l < LANES; ++l) {
        i64 x = Swapped ? b[l] : a[l], y = Swapped ? a[l] : b[l], c = carry >> l & 1;
        i64 sum = Sign > 0 ? x + y + c : x - y - c;
        bool over = sum < 0 || sum > 0xffffffffll;
        if (over) out |= u64(1) << l;
        if (in.flags & CLAMPED && over) sum = Sign > 0 ? 0xffffffffll : 0;
        made[l] = u32(sum);
    }
    holes &= lanes;
    if (holes) {
        u32 u[LANES], v[LANES];
        fetch32(w, in, 2, u, true);
        fetch32(w, in, 3, v, true);
        for (u32 l = 0; l < LANES; ++l) {
            u32 any = u[l] | v[l];
            gone[l] = spoilt >> l & 1 ? ~0u : any ? ~((any & -any) - 1) : 0;
        }
    }
    store32(w, in, 0, made, lanes, holes ? gone : nullptr);
    store_mask(w, in.o[1], out & lanes, holes);
}

// v_mad_u64_u32: result, mask of carries, sources.
template <bool Signed> void mad64(Wave& w, const Instruction& in) {
    u32 a[LANES], b[LANES];
    u64 c[LANES];
    fetch32(w, in, 2, a);
    fetch32(w, in, 3, b);
    fetch<u64>(w, in, 4, c);
    u64 lanes = w.exec, out = 0;
    alignas(64) u64 made[LANES], gone[LANES];
    for (u32 l = 0; l < LANES; ++l) {
        u64 product = Signed ? u64(i64(i32(a[l])) * i32(b[l])) : u64(a[l]) * b[l];
        u64 sum = product + c[l];
        __int128 whole = __int128(i64(product)) + i64(c[l]);  // of 65 bits
        bool over = Signed ? whole < 0 : sum < product;
        if (over) out |= u64(1) << l;
        made[l] = sum;
    }
    u64 holes = (holes_of(w, in, 2) | holes_of(w, in, 3) | holes_of(w, in, 4, 2)) & lanes;
    if (holes) {
        u64 u[3][LANES];
        shadow<u32>(w, in, 2, u[0]);
        shadow<u32>(w, in, 3, u[1]);
        shadow<u64>(w, in, 4, u[2]);
        for (u32 l = 0; l < LANES; ++l) {
            u64 any = u[0][l] | u[1][l] | u[2][l];
            gone[l] = any ? ~((any & -any) - 1) : 0;
        }
    }
    store<u64>(w, in, made, holes ? gone : nullptr);
    // That the carry of undefined upper bits is undefined is told when it is used.
    store_mask(w, in.o[1], out & lanes, holes);
}

void cndmask(Wave& w, const Instruction& in) {
    u32 a[LANES], b[LANES], made[LANES], gone[LANES];
    fetch32(w, in, 1, a);
    fetch32(w, in, 2, b);
    auto sign = [&](u32 k, u32* x) {
        if (in.o[k].abs) for (u32 l = 0; l < LANES; ++l) x[l] &= 0x7fffffff;
        if (in.o[k].neg) for (u32 l = 0; l < LANES; ++l) x[l] ^= 0x80000000;
    };
    sign(1, a);
    sign(2, b);
    u64 mask = load_mask(w, in.o[3]), lanes = written_lanes(w, in);
    u64 spoilt = mask_undefined(w, in.o[3]);
    for (u32 l = 0; l < LANES; ++l) made[l] = mask >> l & 1 ? b[l] : a[l];
    u64 holes = (holes_of(w, in, 1) | holes_of(w, in, 2) | spoilt) & lanes;
    if (holes) {
        u32 u[LANES], v[LANES];
        fetch32(w, in, 1, u, true);
        fetch32(w, in, 2, v, true);
        for (u32 l = 0; l < LANES; ++l)
            gone[l] = spoilt >> l & 1 ? ((a[l] ^ b[l]) | u[l] | v[l]) : mask >> l & 1 ? v[l] : u[l];
    }
    store32(w, in, 0, made, lanes, holes ? gone : nullptr);
}

void swap(Wave& w, const Instruction& in) {
    u32 a = register_of(w, in, 0, 0), b = register_of(w, in, 1, 0);
    u32 x[LANES], y[LANES], u[LANES], v[LANES];
    memcpy(x, w.v + a * LANES, sizeof x);
    memcpy(y, w.v + b * LANES, sizeof y);
    for (u32 l = 0; l < LANES; ++l) {
        u[l] = w.holes[a] >> l & 1 ? w.undefined[a * LANES + l] : 0;
        v[l] = w.holes[b] >> l & 1 ? w.undefined[b * LANES + l] : 0;
    }
    put32(w, a, y, w.exec, v);
    put32(w, b, x, w.exec, u);
}
}  // namespace

void vector_integer(Table& t) {
    auto add = [&](std::initializer_list<Entry> more) { t.insert(t.end(), more); };
    add({
        plain("v_cndmask_b32", cndmask, 1), plain("v_swap_b32", swap, 1), plain("v_nop", [](Wave&, const Instruction&) {}, 0),
        lanewise<Upward, u32, u32, u32>("v_add_u32", [](u32 a, u32 b) { return i64(a) + b; }),
        lanewise<Upward, u32, u32, u32>("v_sub_u32", [](u32 a, u32 b) { return i64(a) - b; }),
        lanewise<Upward, u32, u32, u32>("v_subrev_u32", [](u32 a, u32 b) { return i64(b) - a; }),
        lanewise<Upward, i32, i32, i32>("v_add_i32", [](i32 a, i32 b) { return i64(a) + b; }),
        lanewise<Upward, i32, i32, i32>("v_sub_i32", [](i32 a, i32 b) { return i64(a) - b; }),
        lanewise<Upward, u16, u16, u16>("v_add_u16", [](u32 a, u32 b) { return i64(a) + b; }),
        lanewise<Upward, u16, u16, u16>("v_sub_u16", [](u32 a, u32 b) { return i64(a) - b; }),
        lanewise<Upward, u16, u16, u16>("v_subrev_u16", [](u32 a, u32 b) { return i64(b) - a; }),
        lanewise<Upward, i16, i16, i16>("v_add_i16", [](i32 a, i32 b) { return i64(a) + b; }),
        lanewise<Upward, i16, i16, i16>("v_sub_i16", [](i32 a, i32 b) { return i64(a) - b; }),
        plain("v_add_co_u32", carried<1, false, false>, 2), plain("v_sub_co_u32", carried<-1, false, false>, 2),
        plain("v_subrev_co_u32", carried<-1, true, false>, 2), plain("v_addc_co_u32", carried<1, false, true>, 2),
        plain("v_subb_co_u32", carried<-1, false, true>, 2), plain("v_subbrev_co_u32", carried<-1, true, true>, 2),
        plain("v_mad_u64_u32", mad64<false>, 2), plain("v_mad_i64_i32", mad64<true>, 2),
    });
    add({
        lanewise<Upward, u32, u32, u32>("v_mul_lo_u32", [](u32 a, u32 b) { return a * b; }),
        op<u32, u32, u32>("v_mul_hi_u32", [](u32 a, u32 b) { return u32(u64(a) * b >> 32); }),
        op<i32, i32, i32>("v_mul_hi_i32", [](i32 a, i32 b) { return i32(i64(a) * b >> 32); }),
        lanewise<Upward, u32, u32, u32>("v_mul_u32_u24", [](u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }),
        op<u32, u32, u32>("v_mul_hi_u32_u24", [](u32 a, u32 b) { return u32(u64(a & 0xffffff) * (b & 0xffffff) >> 32); }),
        lanewise<Upward, u32, u32, u32>("v_mul_i32_i24", [](u32 a, u32 b) { return u32(sext24(a) * sext24(b)); }),
        op<u32, u32, u32>("v_mul_hi_i32_i24", [](u32 a, u32 b) { return u32(sext24(a) * sext24(b) >> 32); }),
        lanewise<Upward, u32, u32, u32, u32>("v_mad_u32_u24", [](u32 a, u32 b, u32 c) { return i64((a & 0xffffff) * u64(b & 0xffffff) + c); }),
        lanewise<Upward, i32, u32, u32, i32>("v_mad_i32_i24", [](u32 a, u32 b, i32 c) { return i64(sext24(a) * sext24(b) + c); }),
        lanewise<Upward, u16, u16, u16>("v_mul_lo_u16", [](u32 a, u32 b) { return a * b; }),
        lanewise<Upward, KeptU16, u16, u16, u16>("v_mad_u16", [](u32 a, u32 b, u32 c) { return a * b + c; }),
        lanewise<Upward, KeptU16, u16, u16, u16>("v_mad_i16", [](u32 a, u32 b, u32 c) { return a * b + c; }),
        lanewise<Upward, u16, u16, u16, u16>("v_mad_legacy_u16", [](u32 a, u32 b, u32 c) { return a * b + c; }),
        lanewise<Upward, u16, u16, u16, u16>("v_mad_legacy_i16", [](u32 a, u32 b, u32 c) { return a * b + c; }),
        lanewise<Upward, u32, u16, u16, u32>("v_mad_u32_u16", [](u32 a, u32 b, u32 c) { return i64(a * b) + c; }),
        lanewise<Upward, i32, i16, i16, i32>("v_mad_i32_i16", [](i32 a, i32 b, i32 c) { return i64(a * b) + c; }),
        lanewise<And, u32, u32, u32>("v_and_b32", [](u32 a, u32 b) { return a & b; }),
        lanewise<Or, u32, u32, u32>("v_or_b32", [](u32 a, u32 b) { return a | b; }),
        lanewise<Bitwise, u32, u32, u32>("v_xor_b32", [](u32 a, u32 b) { return a ^ b; }),
        lanewise<Bitwise, u32, u32, u32>("v_xnor_b32", [](u32 a, u32 b) { return ~(a ^ b); }),
        lanewise<Bitwise, u32, u32, u32, u32>("v_or3_b32", [](u32 a, u32 b, u32 c) { return a | b | c; }),
        lanewise<Upward, u32, u32, u32, u32>("v_add3_u32", [](u32 a, u32 b, u32 c) { return a + b + c; }),
        lanewise<Upward, u32, u32, u32, u32>("v_xad_u32", [](u32 a, u32 b, u32 c) { return (a ^ b) + c; }),
        op<u32, u32, u32, u32>("v_add_lshl_u32", [](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }),
    });
    add({
        op<u32, u32, u32>("v_bfm_b32", [](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }),
        op<u32, u32, u32>("v_bcnt_u32_b32", [](u32 a, u32 b) { return u32(__builtin_popcount(a)) + b; }),
        op<u32, u32>("v_ffbh_u32", [](u32 a) { return a ? u32(__builtin_clz(a)) : ~0u; }),
        op<u32, u32>("v_ffbl_b32", [](u32 a) { return a ? u32(__builtin_ctz(a)) : ~0u; }),
        op<u32, u32>("v_ffbh_i32", [](u32 a) { u32 b = a ^ u32(i32(a) >> 31); return b ? u32(__builtin_clz(b)) : ~0u; }),
        op<u32, u32, u32>("v_min_u32", [](u32 a, u32 b) { return a < b ? a : b; }),
        op<u32, u32, u32>("v_max_u32", [](u32 a, u32 b) { return a > b ? a : b; }),
        op<i32, i32, i32>("v_min_i32", [](i32 a, i32 b) { return a < b ? a : b; }),
        op<i32, i32, i32>("v_max_i32", [](i32 a, i32 b) { return a > b ? a : b; }),
        op<u16, u16, u16>("v_min_u16", [](u32 a, u32 b) { return a < b ? a : b; }),
        op<u16, u16, u16>("v_max_u16", [](u32 a, u32 b) { return a > b ? a : b; }),
        op<i16, i16, i16>("v_min_i16", [](i32 a, i32 b) { return a < b ? a : b; }),
        op<i16, i16, i16>("v_max_i16", [](i32 a, i32 b) { return a > b ? a : b; }),
        op<u32, u32, u32, u32>("v_min3_u32", [](u32 a, u32 b, u32 c) { a = a < b ? a : b; return a < c ? a : c; }),
        op<u32, u32, u32, u32>("v_max3_u32", [](u32 a, u32 b, u32 c) { a = a > b ? a : b; return a > c ? a : c; }),
        op<i32, i32, i32, i32>("v_min3_i32", [](i32 a, i32 b, i32 c) { a = a < b ? a : b; return a < c ? a : c; }),
        op<i32, i32, i32, i32>("v_max3_i32", [](i32 a, i32 b, i32 c) { a = a > b ? a : b; return a > c ? a : c; }),
        op<u32, u32, u32, u32>("v_med3_u32", [](u32 a, u32 b, u32 c) { return median(a, b, c); }),
        op<i32, i32, i32, i32>("v_med3_i32", [](i32 a, i32 b, i32 c) { return median(a, b, c); }),
        op<KeptU16, u16, u16, u16>("v_min3_u16", [](u32 a, u32 b, u32 c) { a = a < b ? a : b; return a < c ? a : c; }),
        op<KeptU16, u16, u16, u16>("v_max3_u16", [](u32 a, u32 b, u32 c) { a = a > b ? a : b; return a > c ? a : c; }),
        op<KeptU16, u16, u16, u16>("v_med3_u16", [](u32 a, u32 b, u32 c) { return median(a, b, c); }),
        op<KeptU16, i16, i16, i16>("v_min3_i16", [](i32 a, i32 b, i32 c) { a = a < b ? a : b; return u32(a < c ? a : c); }),
        op<KeptU16, i16, i16, i16>("v_max3_i16", [](i32 a, i32 b, i32 c) { a = a > b ? a : b; return u32(a > c ? a : c); }),
        op<KeptU16, i16, i16, i16>("v_med3_i16", [](i32 a, i32 b, i32 c) { return u32(median(a, b, c)); }),
        op<u32, u32, u32, u32>("v_sad_u8", [](u32 a, u32 b, u32 c) { return i64(sad8(a, b, c)); }),
        op<u32, u32, u32, u32>("v_sad_hi_u8", [](u32 a, u32 b, u32 c) { return (sad8(a, b, 0) << 16) + c; }),
        op<u32, u32, u32, u32>("v_sad_u16", [](u32 a, u32 b, u32 c) {
            i32 d = i32(a & 0xffff) - i32(b & 0xffff), e = i32(a >> 16) - i32(b >> 16);
            return i64(c) + (d < 0 ? -d : d) + (e < 0 ? -e : e);
        }),
        op<u32, u32, u32, u32>("v_sad_u32", [](u32 a, u32 b, u32 c) { return i64(c) + (a > b ? a - b : b - a); }),
        op<u32, u32, u32, u32>("v_msad_u8", [](u32 a, u32 b, u32 c) {
            for (u32 i = 0; i < 32; i += 8) {
                i32 x = a >> i & 0xff, y = b >> i & 0xff;
                if (y) c += x > y ? x - y : y - x;
            }
            return c;
        }),
        op<u32, u32, u32, u32>("v_lerp_u8", [](u32 a, u32 b, u32 c) {
            u32 made = 0;
            for (u32 i = 0; i < 32; i += 8)
                made |= (((a >> i & 0xff) + (b >> i & 0xff) + (c >> i & 1)) >> 1) << i;
            return made;
        }),
        op<u32, u32>("v_sat_pk_u8_i16", [](u32 a) {
            auto u = [](i32 x) { return u32(x < 0 ? 0 : x > 255 ? 255 : x); };
            return u(i16(a)) | u(i16(a >> 16)) << 8;
        }),
        op<u32, i32, i32>("v_cvt_pk_i16_i32", [](i32 a, i32 b) { return u32(saturated<i16>(a) & 0xffff) | u32(saturated<i16>(b)) << 16; }),
        op<u32, u32, u32>("v_cvt_pk_u16_u32", [](u32 a, u32 b) { return u32(saturated<u16>(a)) | u32(saturated<u16>(b)) << 16; }),
    });
}
