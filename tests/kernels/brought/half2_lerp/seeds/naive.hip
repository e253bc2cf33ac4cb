/*---
launches:
  - kernel: lerp_half2
    grid: ["ceil_div(N // 2, 128)"]
    block: [128]
    args: [a, b, out, {value: "N // 2", type: int32}, t]
---*/
// Brings: __half2 pointers as arguments, __hsub2, __hfma2, __float2half2_rn.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

__global__ void lerp_half2(const __half2 *a, const __half2 *b, __half2 *out, int pairs, float t)
{
    const __half2 weight = __float2half2_rn(t);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs) {
        __half2 difference = __hsub2(b[i], a[i]);
        out[i] = __hfma2(weight, difference, a[i]);
    }
}
