/* Cooperative groups for clang. */
#ifndef KS_HIP_COOPERATIVE_GROUPS_H
#define KS_HIP_COOPERATIVE_GROUPS_H

#include "hip_runtime.h"

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
KS_INLINE unsigned long long ks_wave_active() { return __ballot(1); }
KS_INLINE void ks_wave_sync(unsigned long long) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#define KS_GRIDS_WAIT true
KS_INLINE void ks_block_sync() { __syncthreads(); }
KS_INLINE void ks_grid_sync() { __builtin_trap(); /* needs AMD's device libraries */ }

#include "prelude/groups.h"

#endif
