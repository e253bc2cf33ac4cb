/* What hipcc's users have and hiprtc lacks. hiprtc reads AMD's own header ahead of every source. */
#ifndef KS_HIP_RUNTIME_H
#define KS_HIP_RUNTIME_H

#if __has_include(<hip/hip_version.h>)
#include <hip/hip_version.h>
#endif

#define KS_MEMBER __device__ inline __attribute__((always_inline))
#define KS_INLINE static KS_MEMBER

/* std is ours, under another name: what hiprtc has there differs from release to release. */
#include "../../prelude/initializer_list.h"
template <typename T> using KsInitializerList = std::initializer_list<T>;
#define std ks_std
namespace std {
template <typename T> using initializer_list = KsInitializerList<T>;
}

#if defined(HIP_VERSION_MAJOR) && HIP_VERSION_MAJOR < 7
#define KS_LONG_LONG_IS_INT64 /* as there */
#endif
KS_INLINE void *memmove(void *to, const void *from, unsigned long size) {
    return __builtin_memmove(to, from, size);
}
#include "../../prelude/integers.h"
#include "../../prelude/limits.h"
#include "../../prelude/numbers.h"

template <typename T> struct KsSame { using type = T; };
template <typename T> using KsExactly = typename KsSame<T>::type; /* takes no part in deduction */
template <typename To, typename From> KS_INLINE To ks_bits(const From &from) {
    return __builtin_bit_cast(To, from);
}

/* AMD's is of double alone. */
template <typename T> KS_INLINE KsOnlyIf<ks_is_same<T, float>, T> rsqrt(T x) {
    return rsqrtf(x);
}

#define assert(...) ((__VA_ARGS__) ? (void)0 : __builtin_trap())

#include "../../prelude/extremes.h"
/* Templates, which give way where AMD's header has them. */
#define KS_EXTREMES_OF(prefix, T)                                                                  \
    template <int = 0> KS_INLINE T prefix##min(T a, T b) { return min(a, b); }                     \
    template <int = 0> KS_INLINE T prefix##max(T a, T b) { return max(a, b); }
KS_EXTREMES_OF(u, unsigned)
KS_EXTREMES_OF(ll, long long)
KS_EXTREMES_OF(ull, unsigned long long)

#include "../ks/atomics.h"
#include "../ks/hints.h"

#endif
