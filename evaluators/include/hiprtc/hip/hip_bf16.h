/* AMD's header, and what it lacks of CUDA's. */
#ifndef KS_HIP_BF16_H
#define KS_HIP_BF16_H

#include "hip_runtime.h"

#undef std
#include_next <hip/hip_bf16.h>
#define std ks_std

KS_INLINE __hip_bfloat16 __float2bfloat16_rn(float x) { return __float2bfloat16(x); }

#endif
