/* min and max of two numbers of two types, in the type of their sum, where vendors' headers have
 * none, or one that gives double. */
#ifndef KS_EXTREMES_H
#define KS_EXTREMES_H

#include "numbers.h"

template <typename A, typename B>
inline constexpr bool ks_mixed =
    ks_is_number<A> && ks_is_number<B> && !ks_is_same<A, B>;
#ifdef __cpp_concepts /* the only way to be preferred to a template of the vendor's */
#define KS_MIXED(A, B) requires(ks_mixed<A, B>)
#define KS_SUM(A, B) decltype(A() + B())
#else
#define KS_MIXED(A, B)
#define KS_SUM(A, B) KsOnlyIf<ks_mixed<A, B>, decltype(A() + B())>
#endif
template <typename A, typename B>
KS_MIXED(A, B)
KS_INLINE KS_SUM(A, B) min(A a, B b) {
    using T = decltype(a + b);
    return min(T(a), T(b));
}
template <typename A, typename B>
KS_MIXED(A, B)
KS_INLINE KS_SUM(A, B) max(A a, B b) {
    using T = decltype(a + b);
    return max(T(a), T(b));
}

#undef KS_MIXED
#undef KS_SUM
#endif
