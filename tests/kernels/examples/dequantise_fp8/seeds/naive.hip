/*---
launches:
  - {kernel: dequantise, grid: [N], block: [32], args: [q, scale, y]}
---*/
#include <hip/hip_fp8.h>

__global__ void dequantise(const __hip_fp8_e4m3* q, const float* scale, float* y) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    y[i] = static_cast<float>(q[i]) * scale[blockIdx.x];
}
