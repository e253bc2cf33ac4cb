/* What AMD's header lacks, with hiprtc and hipcc alike: CUDA's hints for caches, atomic operations,
 * min and max of two types. Functions that a later release may have are templates, which give way. */
#ifndef KS_ADDITIONS_H
#define KS_ADDITIONS_H

#define KS_MEMBER __device__ inline __attribute__((always_inline))
#define KS_INLINE static KS_MEMBER

#include "prelude/numbers.h"

template <typename T> struct KsSame { using type = T; };
template <typename T> using KsExactly = typename KsSame<T>::type; /* takes no part in deduction */
template <typename To, typename From> KS_INLINE To ks_bits(const From &from) {
    return __builtin_bit_cast(To, from);
}

/* AMD's is of double alone. */
template <typename T> KS_INLINE KsOnlyIf<ks_is_same<T, float>, T> rsqrt(T x) { return rsqrtf(x); }

#include "prelude/extremes.h"
#define KS_EXTREMES_OF(prefix, T)                                                                  \
    template <int = 0> KS_INLINE T prefix##min(T a, T b) { return min(a, b); }                     \
    template <int = 0> KS_INLINE T prefix##max(T a, T b) { return max(a, b); }
KS_EXTREMES_OF(u, unsigned)
KS_EXTREMES_OF(ll, long long)
KS_EXTREMES_OF(ull, unsigned long long)

#include "atomics.h"
#include "hints.h"

#endif
