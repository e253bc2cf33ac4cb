/* __hip_bfloat16 and its pair are CUDA's own, under AMD's names. */
#ifndef KS_HIP_BF16_H
#define KS_HIP_BF16_H

#include "hip_runtime.h"
#include <cuda_bf16.h>

typedef __nv_bfloat16 __hip_bfloat16;
typedef __nv_bfloat162 __hip_bfloat162;
typedef __nv_bfloat16_raw __hip_bfloat16_raw;
typedef __nv_bfloat16 hip_bfloat16;

#endif
