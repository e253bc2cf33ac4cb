/* __half and __half2: operations are _Float16's, as the compiler sees through the conversions. */
#include "hip_runtime.h"
#include "amdgcn/ks/half_bits.h"
#include "cpu/hip/hip_fp16.h"
