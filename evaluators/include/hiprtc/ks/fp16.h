/* What AMD's header lacks of CUDA's half functions; templates give way to it
 * where it has them. */
#ifndef KS_HIP_FP16_H
#define KS_HIP_FP16_H

template <int = 0> KS_INLINE __half __double2half(double x) { return __float2half((float)x); }
template <int = 0> KS_INLINE __half2 __hmax2(__half2 a, __half2 b) {
    return __halves2half2(__hmax(__low2half(a), __low2half(b)),
                          __hmax(__high2half(a), __high2half(b)));
}
template <int = 0> KS_INLINE __half2 __hmin2(__half2 a, __half2 b) {
    return __halves2half2(__hmin(__low2half(a), __low2half(b)),
                          __hmin(__high2half(a), __high2half(b)));
}
template <int = 0> KS_INLINE __half2 atomicAdd(__half2 *address, __half2 value) {
    return unsafeAtomicAdd(address, value);
}

#endif
