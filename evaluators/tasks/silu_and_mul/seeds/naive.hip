/*---
launches:
  - kernel: silu_and_mul
    grid: ["ceil_div(C, 256)", "min(R, 65535)"]
    block: [256]
    args: [x, y, R, C]
---*/
#include <hip/hip_bf16.h>

// One column a thread; the grid's second dim goes over the rows.
__global__ void silu_and_mul(const __hip_bfloat16* x, __hip_bfloat16* y, int R, int C) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = blockIdx.y; r < R; r += gridDim.y) {
        if (c < C) {
            float gate = __bfloat162float(x[(size_t)r * 2 * C + c]);
            float up = __bfloat162float(x[(size_t)r * 2 * C + C + c]);
            y[(size_t)r * C + c] = __float2bfloat16(gate / (1.0f + expf(-gate)) * up);
        }
    }
}
