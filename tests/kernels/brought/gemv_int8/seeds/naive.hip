/*---
launches:
  - kernel: gemv_w8a8
    grid: ["ceil_div(M, 4)"]
    block: [32, 4]
    args: [w, w_scale, x, y, M, K, x_scale]
---*/
// Brings: int8_t, char4, __shfl_down_sync of integers with a 32-bit mask, a warp a row by threadIdx.y.
#include <hip/hip_runtime.h>
#include <cstdint>

__device__ inline int dot4(char4 a, char4 b, int sum)
{
    return sum + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

__global__ void gemv_w8a8(const int8_t *__restrict__ w, const float *__restrict__ w_scale,
                          const int8_t *__restrict__ x, float *__restrict__ y, int rows, int k,
                          float x_scale)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return; // a whole warp of 32

    const char4 *w4 = (const char4 *)(w + (size_t)row * k);
    const char4 *x4 = (const char4 *)x;

    int sum = 0;
    for (int i = threadIdx.x; i < k / 4; i += 32)
        sum = dot4(w4[i], x4[i], sum);

#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);

    if (threadIdx.x == 0)
        y[row] = (float)sum * w_scale[row] * x_scale;
}
