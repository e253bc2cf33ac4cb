/* __hip_fp8_e4m3_fnuz in software, as on the cpu: NVIDIA's own fp8 is another format. */
#include "hip_fp16.h"
#include "cpu/ks/half_bits.h"
#include "cpu/hip/hip_fp8.h"
