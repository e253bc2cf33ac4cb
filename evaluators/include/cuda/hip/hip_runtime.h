/* HIP's device side for NVRTC: names and functions that CUDA spells otherwise.
 *
 * Compiled with -default-device. Wavefront operations take the whole warp of 32, as HIP
 * has no masks: every lane that has not returned must take part. */
#ifndef KS_HIP_RUNTIME_H
#define KS_HIP_RUNTIME_H

#define __HIP__ 1
#define __HIPCC__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __HIP_PLATFORM_NVIDIA__ 1

#define KS_MEMBER __device__ __forceinline__
#define KS_INLINE static KS_MEMBER
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

#include "prelude/numbers.h"
#ifdef __CUDACC_RTC__
#define KS_MOVE_BUILT_IN
KS_INLINE void *memmove(void *to, const void *from, size_t size) {
    char *into = (char *)to;
    const char *out = (const char *)from;
    if (into < out)
        for (size_t i = 0; i < size; ++i) into[i] = out[i];
    else
        for (size_t i = size; i > 0; --i) into[i - 1] = out[i - 1];
    return to;
}
#include "prelude/integers.h"
#include "prelude/whole_numbers.h"
#undef assert
#define assert(...) ((__VA_ARGS__) ? (void)0 : __trap())
#define abort() __trap()
#else /* exported code, compiled by nvcc */
#include <algorithm>
#include <array>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#endif
#include "prelude/limits.h"
#define __builtin_memcpy memcpy /* clang's, which nvcc and NVRTC lack */
#define __builtin_memset memset

#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

template <typename T> struct KsSame { using type = T; };
template <typename T> using KsExactly = typename KsSame<T>::type; /* takes no part in deduction */

template <typename To, typename From> KS_INLINE To ks_bits(const From &from) {
    static_assert(sizeof(To) == sizeof(From), "sizes differ");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

#define KS_WARP 0xFFFFFFFFu
template <typename T> KS_INLINE T ks_shfl(T value, int lane, int width = 32) {
    return __shfl_sync(KS_WARP, value, lane, width);
}
template <typename T> KS_INLINE T ks_shfl_up(T value, unsigned delta, int width = 32) {
    return __shfl_up_sync(KS_WARP, value, delta, width);
}
template <typename T> KS_INLINE T ks_shfl_down(T value, unsigned delta, int width = 32) {
    return __shfl_down_sync(KS_WARP, value, delta, width);
}
template <typename T> KS_INLINE T ks_shfl_xor(T value, int mask, int width = 32) {
    return __shfl_xor_sync(KS_WARP, value, mask, width);
}
KS_INLINE unsigned long long ks_ballot(int predicate) { return __ballot_sync(KS_WARP, predicate); }
KS_INLINE int ks_any(int predicate) { return __any_sync(KS_WARP, predicate); }
KS_INLINE int ks_all(int predicate) { return __all_sync(KS_WARP, predicate); }
/* CUDA still declares functions of these names, which sm_70 and later don't have. */
#define __shfl ks_shfl
#define __shfl_up ks_shfl_up
#define __shfl_down ks_shfl_down
#define __shfl_xor ks_shfl_xor
#define __ballot ks_ballot
#define __any ks_any
#define __all ks_all
KS_INLINE unsigned __lane_id() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

#include "prelude/extremes.h"
#include "../ks/atomics.h"

#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
#define __hip_atomic_load(address, order, scope) (*(volatile decltype(*(address) + 0) *)(address))
#define __hip_atomic_store(address, value, order, scope) ((void)atomicExch(address, value))
#define __hip_atomic_fetch_add(address, value, order, scope) atomicAdd(address, value)
#define __hip_atomic_fetch_min(address, value, order, scope) atomicMin(address, value)
#define __hip_atomic_fetch_max(address, value, order, scope) atomicMax(address, value)
#define __hip_atomic_fetch_and(address, value, order, scope) atomicAnd(address, value)
#define __hip_atomic_fetch_or(address, value, order, scope) atomicOr(address, value)
#define __hip_atomic_fetch_xor(address, value, order, scope) atomicXor(address, value)
#define __hip_atomic_exchange(address, value, order, scope) atomicExch(address, value)

#define __builtin_nontemporal_load(p) __ldcs(p)
#define __builtin_nontemporal_store(value, p) __stcs(p, value)
#define KS_VECTORS_BUILT_IN
#include "cpu/ks/vectors.h"

#endif
