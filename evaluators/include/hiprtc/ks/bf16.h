/* What AMD's header lacks of CUDA's bfloat16 functions; templates give way to it
 * where it has them. */
#ifndef KS_HIP_BF16_H
#define KS_HIP_BF16_H

template <int = 0> KS_INLINE __hip_bfloat16 __float2bfloat16_rn(float x) { return __float2bfloat16(x); }

#endif
