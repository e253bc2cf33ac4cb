/* Cooperative groups between fibers: the same as on GPUs. Where a fiber waits is told apart by the
 * calls that led there, which the emitter marks. */
#ifndef KS_FIBER_GROUPS_H
#define KS_FIBER_GROUPS_H

#ifndef KS_MEMBER
#define KS_MEMBER inline __attribute__((always_inline))
#endif

#define KS_WAVE_SHUFFLE(name)                                                                      \
    KS_INLINE unsigned ks_wave##name(unsigned long long, unsigned word, int operand, int width) {  \
        return _##name(word, operand, width);                                                      \
    }
KS_WAVE_SHUFFLE(_shfl)
KS_WAVE_SHUFFLE(_shfl_up)
KS_WAVE_SHUFFLE(_shfl_down)
KS_WAVE_SHUFFLE(_shfl_xor)
#undef KS_WAVE_SHUFFLE
KS_INLINE unsigned long long ks_wave_ballot(unsigned long long, int vote) { return __ballot(vote); }
KS_INLINE unsigned long long ks_wave_active() { return __activemask(); }
KS_INLINE void ks_wave_sync(unsigned long long) { __syncwarp(); }
KS_INLINE void ks_block_sync() { ks_wait(KS_AT_BARRIER, __COUNTER__, ks_self->called_from); }
KS_INLINE void ks_grid_sync() { __builtin_trap(); }
#ifdef KS_AS_WRITTEN /* it is right C++ */
#define KS_GRIDS_WAIT true
#else
#define KS_GRIDS_WAIT false
#endif

#include "prelude/groups.h"

#endif
