/*---
launches:
  - kernel: norm
    grid: ["ceil_div(N, 256)"]
    block: [256]
    args: [z, magnitude, N]
---*/
// Brings: a kernel with the name of a library's function, float2 pointers as arguments.
#include <hip/hip_runtime.h>

__global__ void norm(const float2* z, float* magnitude, int n) {
  int i = threadIdx.x + blockDim.x * blockIdx.x;
  if (i < n) {
    float2 v = z[i];
    magnitude[i] = sqrtf(v.x * v.x + v.y * v.y);
  }
}
