// Loads take time, and s_waitcnt says how many may still be under way: a register that is used
// before its load is through holds what it held before, or not, on a GPU.
#pragma once
#include "state.hpp"

enum class Access : u8 { none, vector, local, flat, scalar, wait };

inline bool starts(const char* name, const char* with) { return !strncmp(name, with, strlen(with)); }

inline Access access_of(const char* name) {
    if (starts(name, "s_waitcnt")) return Access::wait;
    if (starts(name, "flat_")) return Access::flat;
    if (starts(name, "ds_")) return Access::local;
    if (starts(name, "global_") || starts(name, "scratch_") || starts(name, "buffer_")) return Access::vector;
    if (starts(name, "s_load") || starts(name, "s_buffer_load") || starts(name, "s_mem")) return Access::scalar;
    return Access::none;
}

inline bool under_way(const Waits& waits) {
    return waits.vector_through < waits.vector_issued || waits.local_through < waits.local_issued;
}

// Fails the launch where an operand's register is one that is still to be loaded. Loads of one
// kind come in order, so that the result of one may be that of another which is under way.
inline void check_waits(Wave& w, const Instruction& in, Access access) {
    const Waits& waits = w.waits;
    for (u32 k = 0; k < in.operands; ++k) {
        const Operand& o = in.o[k];
        if (k < in.results && (access == Access::vector || access == Access::local)) {
            const u32* until = access == Access::vector ? waits.local_until : waits.vector_until;
            u32 through = access == Access::vector ? waits.local_through : waits.vector_through;
            for (u32 i = o.index; i < o.index + o.registers && i < MOST_VECTORS; ++i)
                if (until[i] > through) return fail(w, Fault::unwaited, 0, i, 0, 0, "v");
            continue;
        }
        for (u32 i = o.index; i < o.index + o.registers; ++i) {
            if (o.kind == Kind::vector && i < MOST_VECTORS) {
                if (waits.vector_until[i] > waits.vector_through || waits.local_until[i] > waits.local_through)
                    return fail(w, Fault::unwaited, 0, i, 0, 0, "v");
            } else if (o.kind == Kind::scalar && i < SCALARS && waits.scalar_until[i] > waits.local_through) {
                return fail(w, Fault::unwaited, 0, i, 0, 0, "s");
            }
        }
    }
}

// offset, offset1 of s_waitcnt: how many vector, and how many other accesses, may be under way.
inline void wait_for(Waits& waits, const Instruction& in) {
    u32 vector = u32(in.offset), local = u32(in.offset1);
    if (vector < waits.vector_issued && waits.vector_through < waits.vector_issued - vector)
        waits.vector_through = waits.vector_issued - vector;
    if (local && waits.scalar_under_way) return;
    if (local < waits.local_issued && waits.local_through < waits.local_issued - local)
        waits.local_through = waits.local_issued - local;
    if (!local) waits.scalar_under_way = false;
}

inline void note_access(Wave& w, const Instruction& in, Access access) {
    Waits& waits = w.waits;
    if (access == Access::wait) return wait_for(waits, in);
    bool vector = access == Access::vector || access == Access::flat;
    if (vector) ++waits.vector_issued;
    // Compilers count loads to LDS as both.
    if (access != Access::vector || in.flags & TO_LDS) ++waits.local_issued;
    waits.scalar_under_way |= access == Access::scalar;
    if (!in.results) return;
    const Operand& o = in.o[0];
    for (u32 i = o.index; i < o.index + o.registers; ++i) {
        if (access == Access::scalar) {
            if (i < SCALARS) waits.scalar_until[i] = waits.local_issued;
        } else if (i < MOST_VECTORS) {
            if (vector) waits.vector_until[i] = waits.vector_issued;
            if (access != Access::vector) waits.local_until[i] = waits.local_issued;
        }
    }
}
