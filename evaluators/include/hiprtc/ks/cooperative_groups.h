/* Cooperative groups for AMD's GPUs: ours, in the place of those of AMD's header. */
#ifndef KS_HIP_COOPERATIVE_GROUPS_H
#define KS_HIP_COOPERATIVE_GROUPS_H

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
KS_INLINE void ks_grid_sync() { __ockl_grid_sync(); }

#define cooperative_groups ks_cooperative_groups
#include "prelude/groups.h"

#endif
