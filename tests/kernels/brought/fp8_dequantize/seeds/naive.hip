/*---
launches:
  - kernel: dequantize<T>
    grid: ["ceil_div(C, 128)", R]
    block: [128]
    args: [q, scales, x, C]
---*/
// Brings: fp8 e4m3fn and e5m2, converted by a cast, chosen by a dtype parameter.
#include <hip/hip_runtime.h>
#include <hip/hip_fp8.h>

template <typename Fp8>
__global__ void dequantize(const Fp8* __restrict__ q, const float* __restrict__ scales,
                           float* __restrict__ x, int cols)
{
    constexpr int group = 32;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (col >= cols) return;

    const int groups = (cols + group - 1) / group;
    const float scale = scales[row * groups + col / group];
    x[(size_t)row * cols + col] = static_cast<float>(q[(size_t)row * cols + col]) * scale;
}
