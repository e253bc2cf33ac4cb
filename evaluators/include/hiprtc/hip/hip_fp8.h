/* AMD's header, and what it leaves out. */
#include "hip_bf16.h"
#include "hip_fp16.h"

#undef std
#include_next <hip/hip_fp8.h>
#define std ks_std

#include "../ks/fp8.h"
