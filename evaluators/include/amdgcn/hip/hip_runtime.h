/* HIP's device side for clang's AMD GPU target without AMD's headers and device libraries.
 *
 * For inspection: registers, LDS, scratch and instructions are close to what hiprtc generates, not
 * the same. Wavefronts of 64 (CDNA). */
#ifndef KS_HIP_RUNTIME_H
#define KS_HIP_RUNTIME_H

#if __AMDGCN_WAVEFRONT_SIZE != 64
#error "these headers are for wavefronts of 64: gfx942, gfx90a and gfx908"
#endif

#define __HIP_PLATFORM_AMD__ 1
#define __HIPCC__ 1

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
/* Threads a block; and, as in HIP, wavefronts a SIMD at least. */
#define __launch_bounds__(...) KS_BOUNDS(__VA_ARGS__, KS_BOUNDS2, KS_BOUNDS1)(__VA_ARGS__)
#define KS_BOUNDS(threads, waves, chosen, ...) chosen
#define KS_BOUNDS1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define KS_BOUNDS2(threads, waves) KS_BOUNDS1(threads) __attribute__((amdgpu_waves_per_eu(waves)))
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

#define KS_MEMBER __device__ inline __attribute__((always_inline))
#define KS_INLINE static KS_MEMBER
#define KS_INDICES_BUILT_IN
#include "cpu/ks/types.h"
#include "amdgcn/ks/indices.h"
#include "cpu/ks/vectors.h"
#include "cpu/ks/bits.h"
#define KS_FUNCTIONS_GIVEN
#include "amdgcn/ks/functions.h"
#include "cpu/ks/math.h"
#include "prelude/initializer_list.h"
#include "cpu/ks/memory.h"
#define assert(...) ((__VA_ARGS__) ? (void)0 : __builtin_trap())
#include "amdgcn/ks/atomics.h"
#include "amdgcn/ks/wavefront.h"

#endif
