/*---
launches:
  - kernel: row_dots<64, 4>
    grid: [R]
    block: [64]
    args: [a, b, dots, C]
---*/
// Brings: std::integer_sequence, std::make_integer_sequence, fold expressions, <utility>.
#include <hip/hip_runtime.h>
#include <utility>

template <int STRIDE, int... I>
__device__ float unrolled(const float* a, const float* b, std::integer_sequence<int, I...>) {
  return ((a[I * STRIDE] * b[I * STRIDE]) + ...);
}

template <int BLOCK, int UNROLL>
__global__ void row_dots(const float* a, const float* b, float* dots, int cols) {
  __shared__ float partial[BLOCK];
  const unsigned tid = threadIdx.x;
  a += static_cast<size_t>(blockIdx.x) * cols;
  b += static_cast<size_t>(blockIdx.x) * cols;

  float sum = 0.0f;
  int start = 0;
  for (; start + BLOCK * UNROLL <= cols; start += BLOCK * UNROLL)
    sum += unrolled<BLOCK>(a + start + tid, b + start + tid,
                           std::make_integer_sequence<int, UNROLL>{});
  for (int i = start + tid; i < cols; i += BLOCK) sum += a[i] * b[i];

  partial[tid] = sum;
  __syncthreads();
#pragma unroll
  for (unsigned s = BLOCK / 2; s > 0; s >>= 1) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();
  }
  if (tid == 0) dots[blockIdx.x] = partial[0];
}
