/*---
launches:
  - kernel: log_sum_exp
    grid: ["ceil_div(R, 256 // WAVEFRONT)"]
    block: [WAVEFRONT, "256 // WAVEFRONT"]
    args: [x, y, R, C]
---*/
// Brings: WAVEFRONT in grid and block, warpSize, shuffles without masks, wavefronts that return early.
#include <hip/hip_runtime.h>
#include <cmath>

__global__ void log_sum_exp(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  x += static_cast<long>(row) * cols;

  float top = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += warpSize) top = fmaxf(top, x[i]);
  for (int mask = warpSize / 2; mask > 0; mask /= 2) top = fmaxf(top, __shfl_xor(top, mask));

  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += warpSize) sum += expf(x[i] - top);
  for (int mask = warpSize / 2; mask > 0; mask /= 2) sum += __shfl_xor(sum, mask);

  if (threadIdx.x == 0) y[row] = top + logf(sum);
}
