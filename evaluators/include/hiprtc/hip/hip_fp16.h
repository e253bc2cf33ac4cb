/* AMD's header, and what it lacks of CUDA's. */
#include "hip_runtime.h"

#undef std
#include_next <hip/hip_fp16.h>
#define std ks_std

#include "../ks/fp16.h"
