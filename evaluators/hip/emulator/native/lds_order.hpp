// Who may use LDS when. Two wavefronts that use the same bytes, one of them writing, need a barrier
// between the two, or one must know of the other: by a flag that it waits for, or by what an atomic
// operation returns (happens-before, by vector clocks). Not told: two that write (both may write the
// same, or any may win), and what atomic operations are made to allow.
#pragma once
#include "state.hpp"

constexpr u32 TOLD = 251;  // addresses share these, and the last is that of global memory
constexpr u32 SEVERAL = 0xffff;

inline void join(Clocks& to, const Clocks& from, u32 waves) {
    for (u32 i = 0; i < waves; ++i) to.of[i] = to.of[i] < from.of[i] ? from.of[i] : to.of[i];
}
inline u32 now(const Wave& w) { return w.known.of[w.index]; }
inline bool knows(const Wave& w, u32 other, u32 at) { return at <= w.known.of[other]; }

inline void learn_from(Wave& w, u32 other) {
    Wave& from = *w.block->members[other];
    join(w.known, from.known, w.block->waves);
    ++from.known.of[other];  // what it does from here on is not known
}
inline Clocks& told_at(Block& block, u32 place) {
    if (block.told.empty()) block.told.assign(TOLD + 1, Clocks{});
    return block.told[place];
}
// An atomic operation at a place: what it returns tells of those before, and it tells of itself.
inline void exchange_clocks(Wave& w, u32 place) {
    Clocks& told = told_at(*w.block, place);
    if (w.learns) join(w.known, told, w.block->waves);
    join(told, w.known, w.block->waves);
}
inline bool tracks(const Wave& w) {
    u32 waves = w.block->waves;
    return w.launch->undefined_checks && (waves > 1 || w.launch->loads_to_lds) && waves <= MOST_WAVES;
}
// Of an atomic operation in global memory.
inline void order_by_global(Wave& w) {
    if (!tracks(w)) return;
    exchange_clocks(w, TOLD);
    ++w.known.of[w.index];
}

// A poll in global memory: it may be any other that it waits for.
inline void learn_from_all(Wave& w) {
    if (!tracks(w)) return;
    for (u32 i = 0; i < w.block->waves; ++i)
        if (i != w.index) learn_from(w, i);
}

// One of these of whose access this one does not know, plus one; 0: none.
inline u32 unknown_of(const Wave& w, const Users& users, u32 but = 0) {
    u32 others = users.waves & ~(1u << w.index) & ~but, found = 0;
    if (!others) return 0;
    for (u32 left = others; left; left &= left - 1) {
        u32 i = u32(__builtin_ctz(left));
        if (!knows(w, i, i == users.last ? users.last_at : users.first_at)) found = found ? SEVERAL : i + 1;
    }
    return found;
}
inline void note(const Wave& w, Users& users) {
    u16 me = u16(1u << w.index);
    if (!(users.waves & ~me) || now(w) < users.first_at) users.first_at = now(w);
    users.waves |= me;
    users.last = u16(w.index);
    users.last_at = now(w);
}

// Stores to LDS take time: a barrier before which nobody waited for them does not order them. Those
// of one wavefront come in order, but for loads straight to LDS.
inline bool store_is_through(const Wave& w, const LdsUnit& one) {
    if (!one.storer) return true;
    const Wave& from = *w.block->members[one.storer - 1];
    const Waits& waits = from.waits;
    if (&from == &w) return !one.by_vector || waits.vector_through >= one.stored;
    bool by_barrier = one.epoch != w.block->epoch && w.block->told.empty();
    if (!one.by_vector) return !by_barrier || from.stored_local >= one.stored;
    return (by_barrier ? from.stored_vector : waits.vector_through) >= one.stored;
}

// Whether this access comes after those that it must not meet. Two plain writes may be of one value,
// atomic operations don't disturb each other, and a look at what they change may be meant.
inline bool in_order(Wave& w, const LdsUnit& one, bool writes, bool guards, u32 lane, u32 offset, u32 bytes) {
    bool plain = !w.atomic;
    u32 writer = one.writer && one.writer != w.index + 1 && !knows(w, one.writer - 1u, one.written_at) ? one.writer : 0;
    u32 other = 0;
    const char* does = "wrote";
    if (!writes || !plain) other = writer;
    if (!other && plain && !guards)
        other = unknown_of(w, one.changers), does = "changes by atomic operations";
    if (!other && writes && (plain || !w.learns))
        other = unknown_of(w, one.readers, plain ? 0 : one.lookers), does = "reads";
    if (!other) return true;
    w.launch->fault.other_wave = other == SEVERAL ? SEVERAL : other - 1;
    fail(w, Fault::race, lane, offset, bytes, writes, does);
    return false;
}

inline bool lds_order(Wave& w, u32 offset, u32 bytes, bool writes, u32 lane) {
    if (!tracks(w)) return true;
    Block& block = *w.block;
    const Instruction& in = w.launch->code[w.pc];
    bool polls = !writes && in.flags & POLLS, guards = in.flags & GUARDS;
    u32 shift = w.launch->unit_shift, unit = 1u << shift;
    for (u32 i = (offset + unit - 1) >> shift; i < (offset + bytes) >> shift; ++i) {
        LdsUnit& one = block.units[i];
        if (!writes && !polls && !store_is_through(w, one)) {
            w.launch->fault.other_wave = one.storer - 1u;
            fail(w, Fault::unfinished_lds, lane, offset, bytes, one.by_vector);
            return false;
        }
        if (one.epoch != block.epoch) {
            one.epoch = block.epoch;
            one.readers.waves = one.changers.waves = one.lookers = one.writer = 0;
        }
        bool learns = polls || (w.atomic && w.learns);
        if (learns && one.writer && !knows(w, one.writer - 1u, one.written_at)) learn_from(w, one.writer - 1u);
        if (polls) {
            if (!block.told.empty()) join(w.known, told_at(block, i % TOLD), block.waves);
            continue;
        }
        if (w.atomic) exchange_clocks(w, i % TOLD);
        if (!in_order(w, one, writes, guards, lane, offset, bytes)) return false;
        if (!writes) {
            u16 me = u16(1u << w.index);
            if (!guards) one.lookers &= ~me;
            else if (!(one.readers.waves & me)) one.lookers |= me;
            note(w, one.readers);
            continue;
        }
        if (w.idle) continue;
        if (w.atomic) {
            note(w, one.changers);
        } else {
            one.writer = u8(w.index + 1);
            one.written_at = now(w);
            one.changers.waves = 0;
        }
        one.storer = u8(w.index + 1);
        one.by_vector = in.flags & TO_LDS;
        one.stored = (one.by_vector ? w.waits.vector_issued : w.waits.local_issued) + 1;
    }
    return true;
}

// After a barrier everybody knows of everything before.
inline void forget_order(Block& block) {
    block.told.clear();
    for (Wave* w : block.members) {
        w->known = Clocks{};
        w->known.of[w->index] = 1;
    }
}
