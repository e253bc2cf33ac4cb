/* __half and __half2 are CUDA's own. */
#ifndef KS_HIP_FP16_H
#define KS_HIP_FP16_H

#include "hip_runtime.h"
#include <cuda_fp16.h>

#endif
