/* Barriers, shuffles, votes and clocks. */
#ifndef KS_WAVEFRONT_H
#define KS_WAVEFRONT_H

#include "cpu/ks/exchange.h"

KS_INLINE void __syncthreads() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
KS_INLINE void __syncwarp() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

KS_INLINE unsigned __lane_id() { return __builtin_amdgcn_mbcnt_hi(-1, __builtin_amdgcn_mbcnt_lo(-1, 0)); }

/* As HIP 7 does; it also traps where a mask differs from the active lanes, which cpu tells. */
#define KS_CHECK_MASK(Mask) static_assert(ks_wide<Mask>, KS_NARROW)
template <typename Mask> KS_INLINE void __syncwarp(Mask) {
    KS_CHECK_MASK(Mask);
    __syncwarp();
}

/* Any value, in words of 4 bytes, from another lane. */
template <typename T> KS_INLINE T ks_from_lane(T value, int lane) {
    int words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (int &word : words) word = __builtin_amdgcn_ds_bpermute(lane << 2, word);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
}

#define KS_SHUFFLE(name, Operand)                                                                  \
    template <typename T> KS_INLINE T _##name(T value, Operand operand, int width = WAVEFRONT) {   \
        return ks_from_lane(value, ks_source##name((int)__lane_id(), operand, width));             \
    }                                                                                              \
    template <typename Mask, typename T>                                                           \
    KS_INLINE T _##name##_sync(Mask, T value, Operand operand, int width = WAVEFRONT) {            \
        KS_CHECK_MASK(Mask);                                                                       \
        return _##name(value, operand, width);                                                     \
    }
KS_SHUFFLE(_shfl, int)
KS_SHUFFLE(_shfl_up, unsigned)
KS_SHUFFLE(_shfl_down, unsigned)
KS_SHUFFLE(_shfl_xor, int)

KS_INLINE unsigned long long __ballot(int vote) { return __builtin_amdgcn_ballot_w64(vote != 0); }
KS_INLINE int __any(int vote) { return __ballot(vote) != 0; }
KS_INLINE int __all(int vote) { return __ballot(!vote) == 0; }
KS_INLINE unsigned long long __activemask() { return __ballot(1); }
template <typename Mask> KS_INLINE unsigned long long __ballot_sync(Mask, int vote) {
    KS_CHECK_MASK(Mask);
    return __ballot(vote);
}
template <typename Mask> KS_INLINE int __any_sync(Mask mask, int vote) {
    return __ballot_sync(mask, vote) != 0;
}
template <typename Mask> KS_INLINE int __all_sync(Mask mask, int vote) {
    return __ballot_sync(mask, !vote) == 0;
}

KS_INLINE int __syncthreads_count(int vote) {
    __shared__ int votes;
    if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) votes = 0;
    __syncthreads();
    atomicAdd_block(&votes, vote != 0);
    __syncthreads();
    int count = votes;
    __syncthreads();
    return count;
}
KS_INLINE int __syncthreads_or(int vote) { return __syncthreads_count(vote) != 0; }
KS_INLINE int __syncthreads_and(int vote) { return __syncthreads_count(!vote) == 0; }

KS_INLINE long long clock64() { return (long long)__builtin_readcyclecounter(); }
KS_INLINE long long clock() { return clock64(); }
KS_INLINE long long wall_clock64() { return (long long)__builtin_amdgcn_s_memrealtime(); }

#endif
