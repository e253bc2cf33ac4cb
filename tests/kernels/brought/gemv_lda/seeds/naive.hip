/*---
launches:
  - kernel: gemv_n
    grid: ["ceil_div(M, 64)"]
    block: [64]
    lds_bytes: "64 * sizeof(float32)"
    args: [M, N, alpha, a, LDA, x, beta, y]
---*/
// Brings: a strided input with a leading dimension, sizeof() in lds_bytes.
#include <hip/hip_runtime.h>

__global__ void gemv_n(int m, int n, float alpha, const float* __restrict__ a, int lda,
                       const float* __restrict__ x, float beta, float* __restrict__ y) {
  extern __shared__ float xs[];
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int width = blockDim.x;

  float sum = 0.0f;
  for (int first = 0; first < n; first += width) {
    const int count = min(width, n - first);
    if ((int)threadIdx.x < count) xs[threadIdx.x] = x[first + threadIdx.x];
    __syncthreads();
    if (row < m) {
      const float* row_of_a = a + (size_t)row * lda + first;
      for (int j = 0; j < count; ++j) sum = fmaf(row_of_a[j], xs[j], sum);
    }
    __syncthreads();
  }

  if (row < m) y[row] = beta == 0.0f ? alpha * sum : fmaf(beta, y[row], alpha * sum);
}
