/*---
launches:
  - {kernel: silu_and_mul, grid: ["ceil_div(R * C, 256)"], block: [256], args: [x, y, R, C]}
---*/
#include <hip/hip_bf16.h>
// silu(gate) up in double precision: one element a thread.
__global__ void silu_and_mul(const __hip_bfloat16* x, double* y, int R, int C) {
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    if (i < (size_t)R * C) {
        const __hip_bfloat16* row = x + i / C * 2 * C;
        double gate = __bfloat162float(row[i % C]), up = __bfloat162float(row[C + i % C]);
        y[i] = gate / (1.0 + exp(-gate)) * up;
    }
}
