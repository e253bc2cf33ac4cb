/*---
launches:
  - kernel: apply_rope
    grid: [S, H]
    block: ["align_up(HALF, 32)"]
    args: [q, cos, sin, H, HALF]
---*/
// Brings: tables of inputs(), arguments named like functions (cos, sin), float2, a block of HALF.
#include <hip/hip_runtime.h>

__global__ void apply_rope(float *q, const float *__restrict__ cos, const float *__restrict__ sin,
                           int heads, int half)
{
    const unsigned position = blockIdx.x, head = blockIdx.y, i = threadIdx.x;
    if (i >= (unsigned)half)
        return;

    float2 *pairs = reinterpret_cast<float2 *>(q) + (size_t)(position * heads + head) * half;
    const float c = cos[position * half + i];
    const float s = sin[position * half + i];

    const float2 old = pairs[i];
    pairs[i] = make_float2(old.x * c - old.y * s, old.x * s + old.y * c);
}
