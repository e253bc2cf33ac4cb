// LDS: loads, stores, atomics, and the exchanges between lanes that go through its crossbar.
#include "atomics.hpp"
#include "tables.hpp"

namespace {
bool lds_addresses(Wave& w, const Instruction& in, u32 k, u64* at) {
    return vector_addresses(w, in, k, false, at);
}
// Half: 0 a whole register, 1 its low half, 2 its high.
template <u32 Bytes, bool Sign, u32 Half> void read(Wave& w, const Instruction& in) {
    u64 at[LANES];
    constexpr u32 words = (Bytes + 3) / 4;
    u32 x[4][LANES] = {}, gone[4][LANES] = {};
    if (!lds_addresses(w, in, 1, at)) return;
    for (u64 left = w.exec; left; left &= left - 1) {
        u32 l = __builtin_ctzll(left);
        Place place;
        u64 address = u32(at[l] + in.offset);
        if (!place_of(w, Space::lds, address, Bytes, false, l, place)) return;
        memcpy(&x[0][l], place.bytes, Bytes < 4 ? Bytes : 4);
        memcpy(&gone[0][l], place.undefined, Bytes < 4 ? Bytes : 4);
        for (u32 i = 1; i < words; ++i) {
            memcpy(&x[i][l], place.bytes + 4 * i, 4);
            memcpy(&gone[i][l], place.undefined + 4 * i, 4);
        }
        if (Sign) x[0][l] = Bytes == 1 ? u32(i32(i8(x[0][l]))) : u32(i32(i16(x[0][l])));
    }
    if (Half) {
        u32 r = register_of(w, in, 0, 0), keep = Half == 1 ? 0xffff0000 : 0xffff, shift = Half == 1 ? 0 : 16;
        for (u32 l = 0; l < LANES; ++l) {
            u32 was = w.holes[r] >> l & 1 ? w.undefined[r * LANES + l] & keep : 0;
            x[0][l] = (w.v[r * LANES + l] & keep) | (x[0][l] & 0xffff) << shift;
            gone[0][l] = was | (gone[0][l] & 0xffff) << shift;
        }
    }
    for (u32 i = 0; i < words; ++i) put32(w, register_of(w, in, 0, i), x[i], w.exec, gone[i]);
}
// From operand number data, its first register plus skip.
template <u32 Bytes> bool write_one(Wave& w, const Instruction& in, u32 data, const u64* at, u32 offset, u32 shift) {
    constexpr u32 words = (Bytes + 3) / 4, n = Bytes < 4 ? Bytes : 4;
    u32 x[words][LANES], gone[words][LANES];
    for (u32 i = 0; i < words; ++i) {
        fetch32(w, in, data, x[i], false, i);
        fetch32(w, in, data, gone[i], true, i);
    }
    for (u64 left = w.exec; left; left &= left - 1) {
        u32 l = __builtin_ctzll(left);
        Place place;
        if (!place_of(w, Space::lds, u32(at[l] + offset), Bytes, true, l, place)) return false;
        for (u32 i = 0; i < words; ++i) {
            u32 bits = x[i][l] >> shift, hole = gone[i][l] >> shift;
            memcpy(place.bytes + 4 * i, &bits, n);
            memcpy(place.undefined + 4 * i, &hole, n);
        }
    }
    return true;
}
template <u32 Bytes, u32 Shift> void write(Wave& w, const Instruction& in) {
    u64 at[LANES];
    if (lds_addresses(w, in, 0, at)) write_one<Bytes>(w, in, 1, at, u32(in.offset), Shift);
}
template <u32 Bytes, u32 Stride> void write2(Wave& w, const Instruction& in) {
    u64 at[LANES];
    if (!lds_addresses(w, in, 0, at)) return;
    if (write_one<Bytes>(w, in, 1, at, u32(in.offset) * Stride, 0)) write_one<Bytes>(w, in, 2, at, u32(in.offset1) * Stride, 0);
}
template <u32 Bytes, u32 Stride> void read2(Wave& w, const Instruction& in) {
    u64 at[LANES];
    constexpr u32 words = Bytes / 4;
    u32 x[2 * words][LANES] = {}, gone[2 * words][LANES] = {};
    if (!lds_addresses(w, in, 1, at)) return;
    for (u64 left = w.exec; left; left &= left - 1) {
        u32 l = __builtin_ctzll(left);
        for (u32 second = 0; second < 2; ++second) {
            Place place;
            u64 address = u32(at[l] + u32(second ? in.offset1 : in.offset) * Stride);
            if (!place_of(w, Space::lds, address, Bytes, false, l, place)) return;
            for (u32 i = 0; i < words; ++i) {
                memcpy(&x[second * words + i][l], place.bytes + 4 * i, 4);
                memcpy(&gone[second * words + i][l], place.undefined + 4 * i, 4);
            }
        }
    }
    for (u32 i = 0; i < 2 * words; ++i) put32(w, register_of(w, in, 0, i), x[i], w.exec, gone[i]);
}

template <u32 I, bool Returns> void atomic(Wave& w, const Instruction& in) {
    const Atomic& how = ATOMICS[I];
    u32 first = Returns ? 1 : 0;
    u64 at[LANES];
    if (!lds_addresses(w, in, first, at)) return;
    for (u32 l = 0; l < LANES; ++l) at[l] = u32(at[l] + in.offset);
    for (u64 left = w.exec; left; left &= left - 1) {
        u32 l = __builtin_ctzll(left);
        if (at[l] + how.bytes > w.block->lds.size()) continue;  // told by atomic_lanes
        if (how.change != exchange && !lds_written(w, u32(at[l]), how.bytes))
            return fail(w, Fault::unwritten_lds, l, at[l], how.bytes);
    }
    // ds_cmpst: what is expected, then what is stored.
    u32 data = how.compares ? first + 2 : first + 1;
    atomic_lanes(w, in, Space::lds, how, data, how.compares ? first + 1 : ~0u, at, w.exec, Returns, true);
}

// Which lane of 64 each lane reads, by the swizzle's 16 bits.
u32 swizzled(u32 l, u32 how) {
    if (how & 0x8000) {
        if ((how & 0xe000) == 0xe000) return l;  // FFT: unsupported below
        if ((how & 0xc000) == 0xc000) {          // rotate
            u32 by = how >> 5 & 31, mask = how & 31, at = l & 31, left = how >> 10 & 1;
            u32 to = left ? at - by : at + by;
            return (l & 32) | (at & mask) | (to & ~mask & 31);
        }
        return (l & ~3u) | (how >> 2 * (l & 3) & 3);
    }
    u32 at = l & 31;
    return (l & 32) | ((((at & how) | (how >> 5)) ^ (how >> 10)) & 31);
}
void swizzle(Wave& w, const Instruction& in) {
    u32 how = u32(in.offset), x[LANES], u[LANES], made[LANES], gone[LANES];
    if ((how & 0xe000) == 0xe000) return unsupported(w, "ds_swizzle_b32 in FFT mode");
    fetch32(w, in, 1, x);
    fetch32(w, in, 1, u, true);
    for (u32 l = 0; l < LANES; ++l) {
        u32 from = swizzled(l, how);
        bool on = w.exec >> from & 1;
        made[l] = on ? x[from] : 0;
        gone[l] = on ? u[from] : 0;
    }
    put32(w, register_of(w, in, 0, 0), made, w.exec, gone);
}
void bpermute(Wave& w, const Instruction& in) {
    u64 at[LANES];
    u32 x[LANES], u[LANES], made[LANES], gone[LANES];
    if (!lds_addresses(w, in, 1, at)) return;
    fetch32(w, in, 2, x);
    fetch32(w, in, 2, u, true);
    for (u32 l = 0; l < LANES; ++l) {
        u32 from = u32(at[l] + in.offset) / 4 & 63;
        bool on = w.exec >> from & 1;
        made[l] = on ? x[from] : 0;
        gone[l] = on ? u[from] : 0;
    }
    put32(w, register_of(w, in, 0, 0), made, w.exec, gone);
}
void permute(Wave& w, const Instruction& in) {
    u64 at[LANES];
    u32 x[LANES], u[LANES], made[LANES] = {}, gone[LANES] = {};
    if (!lds_addresses(w, in, 1, at)) return;
    fetch32(w, in, 2, x);
    fetch32(w, in, 2, u, true);
    for (u32 l = 0; l < LANES; ++l) {
        if (!(w.exec >> l & 1)) continue;
        u32 to = u32(at[l] + in.offset) / 4 & 63;
        made[to] = x[l];
        gone[to] = u[l];
    }
    put32(w, register_of(w, in, 0, 0), made, w.exec, gone);
}
// A counter in LDS at M0 goes up or down by the count of active lanes; all get what it was.
template <int Sign> void append(Wave& w, const Instruction& in) {
    u64 address = (w.s[M0] >> 16) + u32(in.offset);
    Place place;
    bool inside = address + 4 <= w.block->lds.size();
    if (inside && !lds_written(w, u32(address), 4)) return fail(w, Fault::unwritten_lds, 0, address, 4);
    w.atomic = w.learns = true;
    if (!place_of(w, Space::lds, address, 4, true, 0, place)) return;
    w.atomic = false;
    ++w.known.of[w.index];
    u32 old, made[LANES];
    memcpy(&old, place.bytes, 4);
    u32 next = old + u32(Sign * __builtin_popcountll(w.exec));
    memcpy(place.bytes, &next, 4);
    for (u32 l = 0; l < LANES; ++l) made[l] = old;
    put32(w, register_of(w, in, 0, 0), made, w.exec);
}

std::vector<std::string>& names() {
    static std::vector<std::string> kept;
    return kept;
}
template <u32 I> void atomics(Table& t) {
    if constexpr (I < std::size(ATOMICS)) {
        std::string name = ATOMICS[I].lds, returning = name;
        size_t under = name.rfind('_');
        returning = name.substr(0, under) + "_rtn" + name.substr(under);
        names().push_back("ds_" + name);
        t.push_back(plain(names().back().c_str(), atomic<I, false>, 0));
        names().push_back("ds_" + returning);
        t.push_back(plain(names().back().c_str(), atomic<I, true>, 1));
        atomics<I + 1>(t);
    }
}
}  // namespace

void lds_memory(Table& t) {
    names().reserve(200);  // pointers into it are kept
    atomics<0>(t);
    t.insert(t.end(), {
        plain("ds_read_u8", read<1, false, 0>, 1), plain("ds_read_i8", read<1, true, 0>, 1),
        plain("ds_read_u16", read<2, false, 0>, 1), plain("ds_read_i16", read<2, true, 0>, 1),
        plain("ds_read_b32", read<4, false, 0>, 1), plain("ds_read_b64", read<8, false, 0>, 1),
        plain("ds_read_b96", read<12, false, 0>, 1), plain("ds_read_b128", read<16, false, 0>, 1),
        plain("ds_read_u8_d16", read<1, false, 1>, 1), plain("ds_read_u8_d16_hi", read<1, false, 2>, 1),
        plain("ds_read_i8_d16", read<1, true, 1>, 1), plain("ds_read_i8_d16_hi", read<1, true, 2>, 1),
        plain("ds_read_u16_d16", read<2, false, 1>, 1), plain("ds_read_u16_d16_hi", read<2, false, 2>, 1),
        plain("ds_write_b8", write<1, 0>, 0), plain("ds_write_b16", write<2, 0>, 0),
        plain("ds_write_b8_d16_hi", write<1, 16>, 0), plain("ds_write_b16_d16_hi", write<2, 16>, 0),
        plain("ds_write_b32", write<4, 0>, 0), plain("ds_write_b64", write<8, 0>, 0),
        plain("ds_write_b96", write<12, 0>, 0), plain("ds_write_b128", write<16, 0>, 0),
        plain("ds_write2_b32", write2<4, 4>, 0), plain("ds_write2_b64", write2<8, 8>, 0),
        plain("ds_write2st64_b32", write2<4, 256>, 0), plain("ds_write2st64_b64", write2<8, 512>, 0),
        plain("ds_read2_b32", read2<4, 4>, 1), plain("ds_read2_b64", read2<8, 8>, 1),
        plain("ds_read2st64_b32", read2<4, 256>, 1), plain("ds_read2st64_b64", read2<8, 512>, 1),
        plain("ds_swizzle_b32", swizzle, 1), plain("ds_bpermute_b32", bpermute, 1), plain("ds_permute_b32", permute, 1),
        plain("ds_append", append<1>, 1), plain("ds_consume", append<-1>, 1),
    });
}
