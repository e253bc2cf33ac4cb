// Where an address leads: to a window of global memory, to LDS, or to a lane's scratch.
#pragma once
#include <algorithm>

#include "lds_order.hpp"
#include "operands.hpp"

inline const Window* window_of(const Launch& launch, u64 address, u32 bytes) {
    const auto& all = launch.windows;
    auto after = std::upper_bound(all.begin(), all.end(), address,
                                  [](u64 a, const Window& one) { return a < one.start; });
    if (after == all.begin()) return nullptr;
    const Window& found = *(after - 1);
    return address + bytes <= found.end && address + bytes > address ? &found : nullptr;
}

// Whether global memory may be accessed there; fails the launch when not.
inline bool reachable(Wave& w, u64 address, u32 bytes, bool writes, u32 lane) {
    if (address < w.cached.start || address + bytes > w.cached.end || address + bytes < address) {
        const Window* found = window_of(*w.launch, address, bytes);
        if (!found) {
            fail(w, Fault::outside, lane, address, bytes, writes);
            return false;
        }
        w.cached = *found;
    }
    if (writes && !w.cached.writable) {
        fail(w, Fault::read_only, lane, address, bytes, writes);
        return false;
    }
    return true;
}

// Whether all these lanes' accesses lie within the window that was used last.
inline bool within_cached(const Wave& w, const u64* at, u64 lanes, u32 bytes, bool writes) {
    if (writes && !w.cached.writable) return false;
    u64 low = ~u64(0), high = 0;
    for (u32 l = 0; l < LANES; ++l) {
        bool on = lanes >> l & 1;
        low = on && at[l] < low ? at[l] : low;
        high = on && at[l] > high ? at[l] : high;
    }
    return low >= w.cached.start && high <= w.cached.end && w.cached.end - high >= bytes;
}

inline u32 memory_undefined(const Wave& w, u64 address) {
    const auto& map = w.launch->undefined_memory;
    if (map.empty()) return 0;
    u32 made = 0;
    for (u32 i = 0; i < 4; ++i) {
        auto found = map.find((address + i) & ~u64(3));
        if (found != map.end()) made |= (found->second >> 8 * ((address + i) & 3) & 0xff) << 8 * i;
    }
    return made;
}
inline void mark_memory(Wave& w, u64 address, u32 bytes, u64 undefined) {
    auto& map = w.launch->undefined_memory;
    if (map.empty() && !undefined) return;
    for (u32 i = 0; i < bytes; ++i) {
        u64 at = (address + i) & ~u64(3);
        u32 shift = 8 * ((address + i) & 3), hole = u32(undefined >> 8 * i) & 0xff;
        auto found = map.find(at);
        if (found == map.end()) {
            if (hole) map[at] = hole << shift;
            continue;
        }
        found->second = (found->second & ~(0xffu << shift)) | hole << shift;
        if (!found->second) map.erase(found);
    }
}

enum class Space { global, flat, scratch, lds };

// A lane's bytes. undefined: those of LDS and scratch; null in global memory.
struct Place {
    u8* bytes;
    u8* undefined;
    u64 global;  // its address there
};

// Whether somebody wrote these bytes of the block's LDS.
inline bool lds_written(const Wave& w, u32 offset, u32 bytes) {
    if (!w.launch->undefined_checks) return true;
    const u8* written = w.block->lds_written.data() + offset;
    u32 i = 0, word;
    for (; i + 4 <= bytes; i += 4) {
        memcpy(&word, written + i, 4);
        if (word != 0x01010101) return false;
    }
    for (; i < bytes; ++i)
        if (!written[i]) return false;
    return true;
}

inline bool place_of(Wave& w, Space space, u64 address, u32 bytes, bool writes, u32 lane, Place& out) {
    if (space == Space::flat) {
        u64 high = address >> 32;
        space = high == SHARED_BASE >> 32 ? Space::lds : high == PRIVATE_BASE >> 32 ? Space::scratch : Space::global;
        if (space != Space::global) address &= 0xffffffff;
    }
    if (space == Space::global) {
        if (!reachable(w, address, bytes, writes, lane)) return false;
        out = {reinterpret_cast<u8*>(address), nullptr, address};
        return true;
    }
    if (space == Space::scratch) {
        u32 each = w.launch->scratch_bytes;
        if (address + bytes > each) {
            fail(w, Fault::outside_scratch, lane, address, bytes, writes);
            return false;
        }
        u64 at = u64(lane) * each + address;
        out = {w.scratch.data() + at, w.scratch_undefined.data() + at, 0};
        return true;
    }
    Block& block = *w.block;
    if (address + bytes > block.lds.size()) {
        fail(w, Fault::outside_lds, lane, address, bytes, writes);
        return false;
    }
    // Compilers read more than counts, so do whole tiles: what matters is what becomes of it.
    if (!writes && !w.unwritten.bytes && !lds_written(w, u32(address), bytes))
        w.unwritten = {w.pc, lane, u32(address), bytes};
    if (!lds_order(w, u32(address), bytes, writes, lane)) return false;
    out = {block.lds.data() + address, block.lds_undefined.data() + address, 0};
    if (writes) memset(block.lds_written.data() + address, 1, bytes);
    return true;
}

inline u64 read_bytes(const u8* from, u32 bytes) {
    u64 x = 0;
    memcpy(&x, from, bytes);
    return x;
}
inline u64 undefined_at(const Wave& w, const Place& at, u32 bytes) {
    if (at.undefined) return read_bytes(at.undefined, bytes);
    if (w.launch->undefined_memory.empty()) return 0;
    u64 low = memory_undefined(w, at.global);
    if (bytes > 4) return low | u64(memory_undefined(w, at.global + 4)) << 32;
    return bytes == 4 ? low : low & ((1u << 8 * bytes) - 1);
}
inline void write_place(Wave& w, const Place& at, u64 x, u32 bytes, u64 undefined) {
    memcpy(at.bytes, &x, bytes);
    if (at.undefined) memcpy(at.undefined, &undefined, bytes);
    else mark_memory(w, at.global, bytes, undefined);
}

// Counts the cache lines that these lanes touch beyond those that as many bytes side by side fill.
inline void count_lines(Wave& w, Space space, const u64* at, u64 lanes, u32 bytes) {
    constexpr u32 LINE = 128;
    if (space == Space::scratch || space == Space::lds) return;
    u64 lines[2 * LANES], last = ~u64(0);
    u32 count = 0, active = 0;
    bool sorted = true;
    for (u64 left = lanes; left; left &= left - 1) {
        u64 from = at[__builtin_ctzll(left)], high = from >> 32;
        if (space == Space::flat && (high == SHARED_BASE >> 32 || high == PRIVATE_BASE >> 32)) continue;
        ++active;
        for (u64 line = from / LINE; line <= (from + bytes - 1) / LINE; ++line) {
            if (line == last) continue;
            sorted &= count == 0 || line > last;
            lines[count++] = last = line;
        }
    }
    if (!sorted) {
        std::sort(lines, lines + count);
        count = u32(std::unique(lines, lines + count) - lines);
    }
    u32 least = (active * bytes + LINE - 1) / LINE;
    if (count > least) w.launch->extra_lines[w.pc] += count - least;
}

// Each lane's address in o[k] (none: 0), 64 or 32 bits; fails where an active lane's is undefined.
inline bool vector_addresses(Wave& w, const Instruction& in, u32 k, bool wide, u64* out) {
    if (in.o[k].kind == Kind::none) {
        for (u32 l = 0; l < LANES; ++l) out[l] = 0;
        return true;
    }
    u32 low[LANES], high[LANES] = {};
    fetch32(w, in, k, low);
    if (wide) fetch32(w, in, k, high, false, 1);
    u64 holes = holes_of(w, in, k, wide ? 2 : 1) & w.exec;
    if (holes && w.launch->undefined_checks) {
        fail(w, Fault::undefined_address, __builtin_ctzll(holes));
        return false;
    }
    for (u32 l = 0; l < LANES; ++l) out[l] = low[l] | u64(high[l]) << 32;
    return true;
}
