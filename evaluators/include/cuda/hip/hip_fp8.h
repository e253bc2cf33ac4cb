/* HIP's 8-bit numbers in software, as on the cpu: NVIDIA's own differ at infinity. */
#include "hip_bf16.h"
#include "hip_fp16.h"
#include "cpu/hip/hip_fp8.h"
