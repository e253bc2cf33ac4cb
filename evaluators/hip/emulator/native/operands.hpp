// How a vector instruction reads its sources and writes its results, lane by lane.
#pragma once
#include "state.hpp"

constexpr u32 MIXED = 0xffff;

inline u64 bits_of(double x) { u64 b; memcpy(&b, &x, 8); return b; }
inline u32 bits_of(float x) { u32 b; memcpy(&b, &x, 4); return b; }
inline double real64(u64 b) { double x; memcpy(&x, &b, 8); return x; }
inline float real32(u32 b) { float x; memcpy(&x, &b, 4); return x; }

// ---- scalars ----
inline u32 read_scalar(const Wave& w, u32 index) {
    if (index == EXEC) return u32(w.exec);
    if (index == EXEC + 1) return u32(w.exec >> 32);
    return w.s[index];
}
inline u32 scalar_undefined(const Wave& w, u32 index) {
    return index >= EXEC ? 0 : w.s_undefined[index];
}
inline void write_scalar(Wave& w, u32 index, u32 value, u32 undefined = 0) {
    if (index >= EXEC) {
        if (undefined) return fail(w, Fault::undefined_exec);
        u32 shift = 32 * (index - EXEC);
        w.exec = (w.exec & ~(u64(0xffffffff) << shift)) | u64(value) << shift;
        return;
    }
    w.s[index] = value;
    w.s_undefined[index] = undefined;
}

// A constant's 32 bits; word: which half of 64.
inline u32 constant32(const Operand& o, u32 bits, u32 word, bool real) {
    switch (o.kind) {
    case Kind::integer: return bits == 64 ? u32(o.value >> 32 * word) : o.as32;
    case Kind::real: return bits == 64 ? u32(o.value >> 32 * word) : bits == 16 ? o.as16 : o.as32;
    default:
        if (bits != 64) return o.as32;
        return real ? (word ? o.as32 : 0) : (word ? u32(o.value >> 32) : o.as32);
    }
}

inline u64 special64(const Wave& w, Kind kind) {
    switch (kind) {
    case Kind::scc: return w.scc;
    case Kind::vccz: return !(w.s[VCC] | w.s[VCC + 1]);
    case Kind::execz: return !w.exec;
    case Kind::shared_base: return SHARED_BASE;
    case Kind::shared_limit: return SHARED_BASE + 0xffffffff;
    case Kind::private_base: return PRIVATE_BASE;
    case Kind::private_limit: return PRIVATE_BASE + 0xffffffff;
    default: return 0;
    }
}

inline bool constant(Kind kind) {
    return kind == Kind::integer || kind == Kind::real || kind == Kind::literal;
}

// A source that is the same for all lanes.
inline u32 uniform32(const Wave& w, const Operand& o, u32 bits, u32 word, bool real = false) {
    if (o.kind == Kind::scalar) return word < o.registers ? read_scalar(w, o.index + word) : 0;
    if (constant(o.kind)) return constant32(o, bits, word, real);
    return u32(special64(w, o.kind) >> 32 * word);
}
inline u32 uniform_undefined(const Wave& w, const Operand& o, u32 word) {
    if (o.kind == Kind::scalar) return word < o.registers ? scalar_undefined(w, o.index + word) : 0;
    if (o.kind == Kind::scc) return w.scc_undefined ? 1 : 0;
    return 0;
}

inline u32 results_of(const Instruction& in) { return in.results; }

inline u32 register_of(Wave& w, const Instruction& in, u32 k, u32 word) {
    u32 index = in.o[k].index + word;
    if (w.gpr_index_mode) {
        u32 results = results_of(in);
        u32 bit = k < results ? 8 : 1u << (k - results);
        if (w.gpr_index_mode & bit) index += w.s[M0] & 0xff;
    }
    if (index >= w.vectors) {
        fail(w, Fault::register_range, 0, index);
        return 0;
    }
    return index;
}

// ---- DPP ----
// Which lane each lane reads; -1: none that is active.
inline void dpp_sources(const Wave& w, const Instruction& in, i32* source) {
    u32 c = in.dpp;
    for (i32 l = 0; l < LANES; ++l) {
        i32 row = l & 48, at = l & 15, from = -1;
        if (c < 0x100) from = (l & ~3) | (c >> 2 * (l & 3) & 3);
        else if (c > 0x100 && c < 0x110) from = at + i32(c & 15) < 16 ? l + i32(c & 15) : -1;
        else if (c > 0x110 && c < 0x120) from = at >= i32(c & 15) ? l - i32(c & 15) : -1;
        else if (c > 0x120 && c < 0x130) from = row | ((at - i32(c & 15)) & 15);
        else if (c == 0x130) from = l < 63 ? l + 1 : -1;
        else if (c == 0x134) from = (l + 1) & 63;
        else if (c == 0x138) from = l - 1;
        else if (c == 0x13c) from = (l - 1) & 63;
        else if (c == 0x140) from = row | (15 - at);
        else if (c == 0x141) from = (l & 56) | (7 - (l & 7));
        else if (c == 0x142) from = row ? row - 1 : -1;
        else if (c == 0x143) from = l >= 32 ? 31 : -1;
        else if (c >= 0x150 && c < 0x160) from = row | i32(c & 15);
        source[l] = from >= 0 && (w.exec >> from & 1) ? from : -1;
    }
}

// Lanes that are written: active, and for DPP not masked and with a source.
inline u64 written_lanes(const Wave& w, const Instruction& in) {
    if (!(in.flags & DPP)) return w.exec;
    u64 mask = 0;
    i32 source[LANES];
    dpp_sources(w, in, source);
    for (u32 l = 0; l < LANES; ++l) {
        bool on = (in.row_mask >> (l >> 4) & 1) && (in.bank_mask >> (l >> 2 & 3) & 1);
        if (on && (source[l] >= 0 || in.flags & BOUND_ZERO)) mask |= u64(1) << l;
    }
    return mask & w.exec;
}

inline u32 part_of(u32 x, u32 part, bool sign) {
    if (part < 4) {
        u32 b = x >> 8 * part & 0xff;
        return sign ? u32(i32(i8(b))) : b;
    }
    if (part < 6) {
        u32 h = x >> 16 * (part - 4) & 0xffff;
        return sign ? u32(i32(i16(h))) : h;
    }
    return x;
}

// 32 bits of source o[k] for each lane, or (shadow) which of them were never written.
inline void fetch32(Wave& w, const Instruction& in, u32 k, u32* out, bool shadow = false,
                    u32 word = 0, u32 bits = 32, bool real = false) {
    const Operand& o = in.o[k];
    if (o.kind == Kind::vector) {
        u32 r = register_of(w, in, k, word);
        if (!shadow) {
            memcpy(out, w.v + r * LANES, LANES * 4);
        } else {
            u64 holes = w.holes[r];
            for (u32 l = 0; l < LANES; ++l)
                out[l] = holes >> l & 1 ? w.undefined[r * LANES + l] : 0;
        }
    } else {
        u32 x = shadow ? uniform_undefined(w, o, word) : uniform32(w, o, bits, word, real);
        for (u32 l = 0; l < LANES; ++l) out[l] = x;
    }
    if ((in.flags & DPP) && k == results_of(in)) {
        i32 source[LANES];
        u32 before[LANES];
        dpp_sources(w, in, source);
        memcpy(before, out, sizeof before);
        for (u32 l = 0; l < LANES; ++l) out[l] = source[l] < 0 ? 0 : before[source[l]];
    }
    if ((in.flags & SDWA) && (o.part != 6))
        for (u32 l = 0; l < LANES; ++l) out[l] = part_of(out[l], o.part, o.sext && !shadow);
}

// Lanes for which some bit of source o[k] was never written; DPP: all lanes, if any.
inline u64 holes_of(Wave& w, const Instruction& in, u32 k, u32 words = 1) {
    const Operand& o = in.o[k];
    u64 holes = 0;
    if (o.kind == Kind::vector) {
        for (u32 i = 0; i < words; ++i) holes |= w.holes[register_of(w, in, k, i)];
        if (holes && (in.flags & DPP)) holes = ALL;
    } else {
        for (u32 i = 0; i < words; ++i)
            if (uniform_undefined(w, o, i)) holes = ALL;
    }
    return holes;
}

// Write 32 bits a lane; undefined: null where all are defined.
inline void put32(Wave& w, u32 r, const u32* x, u64 lanes, const u32* undefined = nullptr) {
    u32* v = w.v + r * LANES;
    if (lanes == ALL) {
        memcpy(v, x, LANES * 4);
    } else {
        for (u32 l = 0; l < LANES; ++l) v[l] = lanes >> l & 1 ? x[l] : v[l];
    }
    w.holes[r] &= ~lanes;
    if (!undefined) return;
    for (u32 l = 0; l < LANES; ++l)
        if ((lanes >> l & 1) && undefined[l]) {
            w.undefined[r * LANES + l] = undefined[l];
            w.holes[r] |= u64(1) << l;
        }
}

// A whole result, or by SDWA a part of it.
inline void store32(Wave& w, const Instruction& in, u32 k, u32* x, u64 lanes,
                    const u32* undefined = nullptr, u32 word = 0) {
    u32 r = register_of(w, in, k, word);
    if (!(in.flags & SDWA) || in.dst_part == 6) return put32(w, r, x, lanes, undefined);
    u32 shift = in.dst_part < 4 ? 8 * in.dst_part : 16 * (in.dst_part - 4);
    u32 part = in.dst_part < 4 ? 0xff : 0xffff, mask = part << shift;
    u32 made[LANES], missing[LANES];
    const u32* old = w.v + r * LANES;
    for (u32 l = 0; l < LANES; ++l) {
        u32 here = (x[l] & part) << shift, rest = 0, hole = 0;
        if (in.dst_unused == 2) {
            rest = old[l] & ~mask;
            if (w.holes[r] >> l & 1) hole = w.undefined[r * LANES + l] & ~mask;
        } else if (in.dst_unused == 1) {
            bool sign = (x[l] & part) > (part >> 1);
            rest = sign ? u32(-(i64(1) << shift)) & ~mask & ~((u32(1) << shift) - 1) : 0;
        }
        made[l] = here | rest;
        missing[l] = hole | (undefined ? (undefined[l] & part) << shift : 0);
    }
    put32(w, r, made, lanes, missing);
}

// A mask of lanes to a pair of scalars (VCC or s[n:n+1]); inactive lanes are 0.
// undefined: lanes for which the bit is.
inline void store_mask(Wave& w, const Operand& o, u64 mask, u64 undefined = 0) {
    write_scalar(w, o.index, u32(mask), u32(undefined));
    write_scalar(w, o.index + 1, u32(mask >> 32), u32(undefined >> 32));
}
inline u64 load_mask(const Wave& w, const Operand& o) {
    return uniform32(w, o, 64, 0) | u64(uniform32(w, o, 64, 1)) << 32;
}
inline u64 mask_undefined(const Wave& w, const Operand& o) {
    return uniform_undefined(w, o, 0) | u64(uniform_undefined(w, o, 1)) << 32;
}
