/* Cooperative groups for CUDA: ours, under another name, as exported code may stand beside its own. */
#ifndef KS_HIP_COOPERATIVE_GROUPS_H
#define KS_HIP_COOPERATIVE_GROUPS_H

#include "hip_runtime.h"

#define KS_WAVE_SHUFFLE(name)                                                                      \
    KS_INLINE unsigned ks_wave##name(unsigned long long lanes, unsigned word, int operand,         \
                                     int width) {                                                  \
        return _##name##_sync((unsigned)lanes, word, operand, width);                              \
    }
KS_WAVE_SHUFFLE(_shfl)
KS_WAVE_SHUFFLE(_shfl_up)
KS_WAVE_SHUFFLE(_shfl_down)
KS_WAVE_SHUFFLE(_shfl_xor)
#undef KS_WAVE_SHUFFLE
KS_INLINE unsigned long long ks_wave_ballot(unsigned long long lanes, int vote) {
    return __ballot_sync((unsigned)lanes, vote);
}
KS_INLINE unsigned long long ks_wave_active() { return __activemask(); }
KS_INLINE void ks_wave_sync(unsigned long long lanes) { __syncwarp((unsigned)lanes); }
#define KS_GRIDS_WAIT true
KS_INLINE void ks_block_sync() { __syncthreads(); }

/* Blocks arrive by counting up; the first one's number completes a power of two, whose bit the
 * others wait to see change. What is left for the next time, and the next launch, is that bit. */
static __device__ unsigned ks_grid_arrived;
KS_INLINE void ks_grid_sync() {
    __syncthreads();
    if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) {
        const bool first = (blockIdx.x | blockIdx.y | blockIdx.z) == 0;
        const unsigned others = gridDim.x * gridDim.y * gridDim.z - 1;
        __threadfence();
        const unsigned before = atomicAdd(&ks_grid_arrived, first ? 0x80000000u - others : 1u);
        while (!((before ^ *(volatile unsigned *)&ks_grid_arrived) & 0x80000000u)) {}
        __threadfence();
    }
    __syncthreads();
}

#define cooperative_groups ks_cooperative_groups
#include "prelude/groups.h"

#endif
