// Global, flat, scratch and buffer instructions, and atomics there.
#include "atomics.hpp"
#include "memory.hpp"
#include "tables.hpp"

namespace {
// How a load or store moves a lane's data. half: 0 a whole register, 1 its low half, 2 its high.
struct Shape {
    const char* name;
    u32 bytes;
    bool sign;
    u32 half;
};
constexpr Shape LOADS[] = {
    {"ubyte", 1, false, 0}, {"sbyte", 1, true, 0}, {"ushort", 2, false, 0}, {"sshort", 2, true, 0},
    {"dword", 4, false, 0}, {"dwordx2", 8, false, 0}, {"dwordx3", 12, false, 0}, {"dwordx4", 16, false, 0},
    {"ubyte_d16", 1, false, 1}, {"ubyte_d16_hi", 1, false, 2}, {"sbyte_d16", 1, true, 1}, {"sbyte_d16_hi", 1, true, 2},
    {"short_d16", 2, false, 1}, {"short_d16_hi", 2, false, 2}};
constexpr Shape STORES[] = {
    {"byte", 1, false, 0}, {"byte_d16_hi", 1, false, 2}, {"short", 2, false, 0}, {"short_d16_hi", 2, false, 2},
    {"dword", 4, false, 0}, {"dwordx2", 8, false, 0}, {"dwordx3", 12, false, 0}, {"dwordx4", 16, false, 0}};

// Addresses of a global, flat or scratch access; vector and scalar: numbers of operands.
template <Space S> bool addresses(Wave& w, const Instruction& in, u32 vector, u32 scalar, u64* out) {
    bool has_scalar = S != Space::flat && scalar < in.operands && in.o[scalar].kind == Kind::scalar;
    bool wide = S == Space::flat || (S == Space::global && !has_scalar);
    if (!vector_addresses(w, in, vector, wide, out)) return false;
    u64 base = u64(i64(in.offset));
    if (has_scalar) {
        u32 words = S == Space::global ? 2 : 1;
        for (u32 i = 0; i < words; ++i) {
            if (uniform_undefined(w, in.o[scalar], i)) {
                fail(w, Fault::undefined_address);
                return false;
            }
            base += u64(uniform32(w, in.o[scalar], 64, i)) << 32 * i;
        }
    }
    for (u32 l = 0; l < LANES; ++l) {
        out[l] += base;
        if (S == Space::scratch) out[l] = u32(out[l]);
    }
    return true;
}

// By word of an access: lanes for which the buffer's size cuts it off (they read 0, and write
// nothing). Words are checked one by one, so that the first ones may be inside.
struct Cut {
    u64 word[4];
};
constexpr Cut NONE{};

// Buffer accesses: o[first] vector addresses, then descriptor and scalar offset.
bool buffer_addresses(Wave& w, const Instruction& in, u32 first, u32 bytes, u64* out, Cut& outside) {
    u64 index[LANES] = {}, offset[LANES] = {};
    const Operand& a = in.o[first];
    if (in.flags & IDXEN) {
        if (!vector_addresses(w, in, first, false, index)) return false;
        if (in.flags & OFFEN) {
            Instruction second = in;
            second.o[first].index = a.index + 1;
            if (!vector_addresses(w, second, first, false, offset)) return false;
        }
    } else if (in.flags & OFFEN) {
        if (!vector_addresses(w, in, first, false, offset)) return false;
    }
    u32 r = in.o[first + 1].index;
    for (u32 i = 0; i < 4; ++i)
        if (scalar_undefined(w, r + i)) {
            fail(w, Fault::undefined_address);
            return false;
        }
    u64 base = w.s[r] | u64(w.s[r + 1] & 0xffff) << 32;
    u32 stride = w.s[r + 1] >> 16 & 0x3fff, records = w.s[r + 2], flags = w.s[r + 3];
    if (w.s[r + 1] >> 31 || flags >> 23 & 1) {
        unsupported(w, "a swizzled buffer, or one with thread ids");
        return false;
    }
    u32 soffset = uniform32(w, in.o[first + 2], 32, 0);
    outside = NONE;
    for (u32 l = 0; l < LANES; ++l) {
        u64 inner = offset[l] + u64(u32(in.offset));
        // Raw: the bytes are counted; structured: records, and bytes within one.
        bool structured = stride && in.flags & IDXEN;
        u64 size = structured ? (index[l] < records ? stride : 0) : stride ? u64(stride) * records : records;
        for (u32 i = 0; 4 * i < bytes; ++i)
            if (inner + std::min(4 * i + 4, bytes) > size) outside.word[i] |= u64(1) << l;
        out[l] = base + soffset + inner + index[l] * stride;
    }
    return true;
}

void load_lanes(Wave& w, const Instruction& in, Space space, const Shape& shape, const u64* at, const Cut& outside) {
    u32 words = (shape.bytes + 3) / 4;
    u32 x[4][LANES] = {};
    if (in.flags & POLLS && space == Space::global) learn_from_all(w);
    u64 some = w.exec & ~outside.word[0], whole = w.exec & ~outside.word[words - 1];
    count_lines(w, space, at, whole, shape.bytes);
    if (space == Space::global && shape.bytes >= 4 && some == whole && w.launch->undefined_memory.empty() &&
        within_cached(w, at, some, shape.bytes, false)) {
        for (u64 left = some; left; left &= left - 1) {
            u32 l = __builtin_ctzll(left);
            for (u32 i = 0; i < words; ++i) memcpy(&x[i][l], reinterpret_cast<u8*>(at[l]) + 4 * i, 4);
        }
        for (u32 i = 0; i < words; ++i) put32(w, register_of(w, in, 0, i), x[i], w.exec);
        return;
    }
    u32 gone[4][LANES] = {};
    bool any = false;
    for (u64 left = some; left; left &= left - 1) {
        u32 l = __builtin_ctzll(left), count = words;
        while (outside.word[count - 1] >> l & 1) --count;
        Place place;
        if (!place_of(w, space, at[l], std::min(4 * count, shape.bytes), false, l, place)) return;
        if (shape.bytes < 4) {
            u32 v = u32(read_bytes(place.bytes, shape.bytes));
            if (shape.sign) v = shape.bytes == 1 ? u32(i32(i8(v))) : u32(i32(i16(v)));
            x[0][l] = v;
            gone[0][l] = u32(undefined_at(w, place, shape.bytes));
            any |= gone[0][l] != 0;
            continue;
        }
        for (u32 i = 0; i < count; ++i) {
            memcpy(&x[i][l], place.bytes + 4 * i, 4);
            Place part{place.bytes + 4 * i, place.undefined ? place.undefined + 4 * i : nullptr, place.global + 4 * i};
            gone[i][l] = u32(undefined_at(w, part, 4));
            any |= gone[i][l] != 0;
        }
    }
    if (shape.half) {
        u32 r = register_of(w, in, 0, 0), keep = shape.half == 1 ? 0xffff0000 : 0xffff, shift = shape.half == 1 ? 0 : 16;
        for (u32 l = 0; l < LANES; ++l) {
            u32 was = w.holes[r] >> l & 1 ? w.undefined[r * LANES + l] & keep : 0;
            x[0][l] = (w.v[r * LANES + l] & keep) | (x[0][l] & 0xffff) << shift;
            gone[0][l] = was | (gone[0][l] & 0xffff) << shift;
        }
        return put32(w, r, x[0], w.exec, gone[0]);
    }
    for (u32 i = 0; i < words; ++i) put32(w, register_of(w, in, 0, i), x[i], w.exec, any ? gone[i] : nullptr);
}

void store_lanes(Wave& w, const Instruction& in, Space space, const Shape& shape, u32 data, const u64* at, const Cut& outside) {
    u32 words = (shape.bytes + 3) / 4;
    u32 x[4][LANES], gone[4][LANES];
    bool any = holes_of(w, in, data, words) & w.exec;
    for (u32 i = 0; i < words; ++i) {
        fetch32(w, in, data, x[i], false, i);
        if (any) fetch32(w, in, data, gone[i], true, i);
    }
    u32 shift = shape.half == 2 ? 16 : 0;
    u64 some = w.exec & ~outside.word[0], whole = w.exec & ~outside.word[words - 1];
    count_lines(w, space, at, whole, shape.bytes);
    if (space == Space::global && shape.bytes >= 4 && some == whole && !any && w.launch->undefined_memory.empty() &&
        within_cached(w, at, some, shape.bytes, true)) {
        for (u64 left = some; left; left &= left - 1) {
            u32 l = __builtin_ctzll(left);
            for (u32 i = 0; i < words; ++i) memcpy(reinterpret_cast<u8*>(at[l]) + 4 * i, &x[i][l], 4);
        }
        return;
    }
    for (u64 left = some; left; left &= left - 1) {
        u32 l = __builtin_ctzll(left), count = words;
        while (outside.word[count - 1] >> l & 1) --count;
        Place place;
        if (!place_of(w, space, at[l], std::min(4 * count, shape.bytes), true, l, place)) return;
        // Parts that are undefined may be padding that nobody reads; a whole one is a mistake.
        if (any && !place.undefined) {
            u32 all = shape.bytes == 1 ? 0xff : shape.bytes == 2 ? 0xffff : ~0u, known = 0;
            for (u32 i = 0; i < count; ++i) known |= ~(gone[i][l] >> shift) & all;
            if (!known) return fail(w, Fault::undefined_store, l, at[l], shape.bytes, 1);
        }
        for (u32 i = 0; i < count; ++i) {
            u32 n = shape.bytes < 4 ? shape.bytes : 4;
            Place part{place.bytes + 4 * i, place.undefined ? place.undefined + 4 * i : nullptr, place.global + 4 * i};
            write_place(w, part, x[i][l] >> shift, n, any ? gone[i][l] >> shift : 0);
        }
    }
}

template <Space S, u32 I> void load(Wave& w, const Instruction& in) {
    u64 at[LANES];
    if (addresses<S>(w, in, 1, 2, at)) load_lanes(w, in, S, LOADS[I], at, NONE);
}
template <Space S, u32 I> void store(Wave& w, const Instruction& in) {
    u64 at[LANES];
    if (addresses<S>(w, in, 0, 2, at)) store_lanes(w, in, S, STORES[I], 1, at, NONE);
}
// From memory straight to LDS: at M0 plus the instruction's offset, a word a lane.
void to_lds(Wave& w, const Instruction& in, const Shape& shape, const u64* at, u64 outside, u32 lds_offset) {
    u32 base = (w.s[M0] & 0xffff) + lds_offset;
    count_lines(w, Space::global, at, w.exec & ~outside, shape.bytes);
    for (u64 left = w.exec; left; left &= left - 1) {
        u32 l = __builtin_ctzll(left);
        Place from, to;
        u32 x = 0;
        u64 gone = 0;
        if (!(outside >> l & 1)) {
            if (!place_of(w, Space::global, at[l], shape.bytes, false, l, from)) return;
            x = u32(read_bytes(from.bytes, shape.bytes < 4 ? shape.bytes : 4));
            if (shape.sign) x = shape.bytes == 1 ? u32(i32(i8(x))) : u32(i32(i16(x)));
            gone = undefined_at(w, from, shape.bytes < 4 ? shape.bytes : 4);
        }
        if (!place_of(w, Space::lds, base + 4 * l, 4, true, l, to)) return;
        write_place(w, to, x, 4, gone);
    }
    (void)in;
}
template <u32 I> void global_to_lds(Wave& w, const Instruction& in) {
    u64 at[LANES];
    if (addresses<Space::global>(w, in, 0, 1, at)) to_lds(w, in, LOADS[I], at, 0, u32(in.offset));
}
template <u32 I> void buffer_load(Wave& w, const Instruction& in) {
    u64 at[LANES];
    Cut outside;
    bool lds = in.flags & TO_LDS;
    if (!buffer_addresses(w, in, lds ? 0 : 1, LOADS[I].bytes, at, outside)) return;
    if (lds) to_lds(w, in, LOADS[I], at, outside.word[0], u32(in.offset));
    else load_lanes(w, in, Space::global, LOADS[I], at, outside);
}
template <u32 I> void buffer_store(Wave& w, const Instruction& in) {
    u64 at[LANES];
    Cut outside;
    if (buffer_addresses(w, in, 1, STORES[I].bytes, at, outside)) store_lanes(w, in, Space::global, STORES[I], 0, at, outside);
}

// o: [result,] address, data[, scalar address]; of a buffer: data, address, descriptor, offset.
template <Space S, bool Buffer, u32 I> void atomic(Wave& w, const Instruction& in) {
    const Atomic& how = ATOMICS[I];
    bool returns = in.flags & RETURNS;
    u32 first = returns && !Buffer ? 1 : 0, data = Buffer ? 0 : first + 1;
    u64 at[LANES];
    Cut outside = NONE;
    if (Buffer ? !buffer_addresses(w, in, 1, how.bytes, at, outside) : !addresses<S>(w, in, first, first + 2, at)) return;
    atomic_lanes(w, in, S, how, data, how.compares ? data : ~0u, at, w.exec & ~outside.word[how.bytes / 4 - 1], returns, false);
}

std::vector<std::string>& names() {
    static std::vector<std::string> kept;
    return kept;
}
void entry(Table& t, const std::string& name, Handler run, u32 results) {
    names().push_back(name);
    t.push_back(plain(names().back().c_str(), run, results));
}
template <u32 I> void both(Table& t) {
    if constexpr (I < std::size(LOADS)) {
        std::string name = LOADS[I].name;
        entry(t, "global_load_" + name, load<Space::global, I>, 1);
        entry(t, "flat_load_" + name, load<Space::flat, I>, 1);
        entry(t, "scratch_load_" + name, load<Space::scratch, I>, 1);
        entry(t, "buffer_load_" + name, buffer_load<I>, 1);
        if (I < 5) entry(t, "global_load_lds_" + name, global_to_lds<I>, 0);
    }
    if constexpr (I < std::size(STORES)) {
        std::string name = STORES[I].name;
        entry(t, "global_store_" + name, store<Space::global, I>, 0);
        entry(t, "flat_store_" + name, store<Space::flat, I>, 0);
        entry(t, "scratch_store_" + name, store<Space::scratch, I>, 0);
        entry(t, "buffer_store_" + name, buffer_store<I>, 0);
    }
    if constexpr (I < std::size(ATOMICS)) {
        if (ATOMICS[I].memory) {
            std::string name = ATOMICS[I].memory;
            entry(t, "global_atomic_" + name, atomic<Space::global, false, I>, 0);
            entry(t, "flat_atomic_" + name, atomic<Space::flat, false, I>, 0);
            entry(t, "buffer_atomic_" + name, atomic<Space::global, true, I>, 0);
        }
    }
    if constexpr (I + 1 < std::size(ATOMICS) || I + 1 < std::size(LOADS)) both<I + 1>(t);
}
}  // namespace

void global_memory(Table& t) {
    names().reserve(500);  // pointers into it are kept
    both<0>(t);
}
