/* __hip_bfloat16 and its pair: computed in float32, as gfx942 has no other way. */
#include "hip_runtime.h"
#include "amdgcn/ks/half_bits.h"
#include "cpu/hip/hip_bf16.h"
