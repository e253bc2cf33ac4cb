/* sqrt(2) and the like: whole numbers are computed with as double, as <cmath> has it. */
#ifndef KS_WHOLE_NUMBERS_H
#define KS_WHOLE_NUMBERS_H

#include "numbers.h"

#define KS_WHOLE1(name)                                                                            \
    template <typename T> KS_INLINE KsOnlyIf<ks_is_whole<T>, double> name(T x) {                   \
        return name((double)x);                                                                    \
    }
#define KS_WHOLE2(name)                                                                            \
    template <typename T, typename U>                                                              \
    KS_INLINE KsOnlyIf<ks_is_whole<T> && ks_is_whole<U>, double> name(T x, U y) {                  \
        return name((double)x, (double)y);                                                         \
    }
KS_WHOLE1(sqrt) KS_WHOLE1(rsqrt) KS_WHOLE1(cbrt) KS_WHOLE1(exp) KS_WHOLE1(exp2) KS_WHOLE1(log)
KS_WHOLE1(log2) KS_WHOLE1(log10) KS_WHOLE1(sin) KS_WHOLE1(cos) KS_WHOLE1(tan) KS_WHOLE1(tanh)
KS_WHOLE1(floor) KS_WHOLE1(ceil) KS_WHOLE1(round) KS_WHOLE1(trunc) KS_WHOLE1(fabs)
KS_WHOLE2(pow) KS_WHOLE2(fmod) KS_WHOLE2(fmin) KS_WHOLE2(fmax) KS_WHOLE2(atan2)
KS_WHOLE2(hypot)

#undef KS_WHOLE1
#undef KS_WHOLE2
#endif
