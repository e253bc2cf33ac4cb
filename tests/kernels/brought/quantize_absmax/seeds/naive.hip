/*---
launches:
  - {memset: {buffer: largest, byte: 0}}
  - {kernel: absmax, grid: ["min(16, ceil_div(N, 256))"], block: [256], args: [x, largest, N]}
  - {kernel: round, grid: ["ceil_div(N, 256)"], block: [256], args: [x, largest, q, N]}
---*/
// Brings: a loop of atomicCAS on a float's bits, two kernels, one of them named round, int8_t
// results that check() judges.
#include <hip/hip_runtime.h>
#include <cstdint>

__device__ void atomic_max_float(float* address, float value) {
  int* bits = reinterpret_cast<int*>(address);
  int seen = *bits;
  while (__int_as_float(seen) < value) {
    const int assumed = seen;
    seen = atomicCAS(bits, assumed, __float_as_int(value));
    if (seen == assumed) break;
  }
}

__global__ void absmax(const float* x, float* largest, int n) {
  __shared__ float block_max;
  if (threadIdx.x == 0) block_max = 0.0f;
  __syncthreads();

  float mine = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine = fmaxf(mine, fabsf(x[i]));
  atomic_max_float(&block_max, mine);
  __syncthreads();

  if (threadIdx.x == 0) atomic_max_float(largest, block_max);
}

__global__ void round(const float* x, const float* largest, int8_t* q, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float scaled = rintf(x[i] / *largest * 127.0f);
  q[i] = static_cast<int8_t>(fminf(fmaxf(scaled, -127.0f), 127.0f));
}
