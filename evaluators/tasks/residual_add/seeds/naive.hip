/*---
launches:
  - kernel: residual_add
    grid: ["ceil_div(N, 256)"]
    block: [256]
    args: [x, y, N]
---*/
#include <hip/hip_bf16.h>

// One element a thread.
__global__ void residual_add(__hip_bfloat16* x, const __hip_bfloat16* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        x[i] = __float2bfloat16(__bfloat162float(x[i]) + __bfloat162float(y[i]));
    }
}
