/* What hipcc's users have and hiprtc lacks. hiprtc reads AMD's own header ahead of every source. */
#ifndef KS_HIP_RUNTIME_H
#define KS_HIP_RUNTIME_H

#include_next <hip/hip_runtime.h> /* empty then; where it is missing, halves would be too */

#if __has_include(<hip/hip_version.h>)
#include <hip/hip_version.h>
#endif

/* std is ours, under another name: what hiprtc has there differs from release to release. */
#include "prelude/initializer_list.h"
template <typename T> using KsInitializerList = std::initializer_list<T>;
#define std ks_std
namespace std {
template <typename T> using initializer_list = KsInitializerList<T>;
}

#if defined(HIP_VERSION_MAJOR) && HIP_VERSION_MAJOR < 7
#define KS_LONG_LONG_IS_INT64 /* as there */
#endif
static __device__ inline void *memmove(void *to, const void *from, unsigned long size) {
    return __builtin_memmove(to, from, size);
}
#include "prelude/integers.h"
#include "prelude/limits.h"

#include "../ks/additions.h"

#define assert(...) ((__VA_ARGS__) ? (void)0 : __builtin_trap())

#endif
