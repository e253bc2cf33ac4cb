/* The mathematical functions of <cmath> and <cstdlib> in std: those that HIP has without it. */
#ifndef KS_STD_FUNCTIONS_H
#define KS_STD_FUNCTIONS_H

namespace std {
using ::abs, ::labs, ::llabs, ::fabs, ::fabsf;
using ::sqrt, ::sqrtf, ::cbrt, ::cbrtf, ::hypot, ::hypotf, ::pow, ::powf, ::fma, ::fmaf;
using ::exp, ::expf, ::exp2, ::exp2f, ::expm1, ::expm1f;
using ::log, ::logf, ::log2, ::log2f, ::log10, ::log10f, ::log1p, ::log1pf;
using ::sin, ::sinf, ::cos, ::cosf, ::tan, ::tanf, ::asin, ::asinf, ::acos, ::acosf;
using ::atan, ::atanf, ::atan2, ::atan2f, ::sinh, ::sinhf, ::cosh, ::coshf, ::tanh, ::tanhf;
using ::asinh, ::asinhf, ::acosh, ::acoshf, ::atanh, ::atanhf;
using ::erf, ::erff, ::erfc, ::erfcf, ::tgamma, ::tgammaf, ::lgamma, ::lgammaf;
using ::floor, ::floorf, ::ceil, ::ceilf, ::trunc, ::truncf, ::round, ::roundf;
using ::rint, ::rintf, ::nearbyint, ::nearbyintf;
using ::fmod, ::fmodf, ::remainder, ::remainderf, ::copysign, ::copysignf, ::fdim, ::fdimf;
using ::fmax, ::fmaxf, ::fmin, ::fminf, ::isfinite, ::isinf, ::isnan, ::signbit;
using ::ldexp, ::ldexpf, ::lrint, ::lrintf, ::lround, ::lroundf;
using ::frexp, ::frexpf, ::modf, ::modff;
using ::memcpy, ::memmove, ::memset;
} // namespace std

#endif
