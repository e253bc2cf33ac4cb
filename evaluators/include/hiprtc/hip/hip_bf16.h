/* AMD's header, and what it lacks of CUDA's. */
#include "hip_runtime.h"

#undef std
#include_next <hip/hip_bf16.h>
#define std ks_std

#include "../ks/bf16.h"
