/*---
launches:
  - kernel: reduce_rows<THREADS>
    grid: [R]
    block: [THREADS]
    args: [x, sums, C]
params: {THREADS: 128}
space: {THREADS: [64, 128, 256]}
---*/
// Brings: a C++20 template lambda, a barrier in a lambda that a template calls, if constexpr.
#include <hip/hip_runtime.h>

// Calls f.operator()<Step>() for Step = First, First / 2, ... 1.
template <int First, class F>
__device__ __forceinline__ void halving(F&& f) {
  if constexpr (First > 0) {
    f.template operator()<First>();
    halving<First / 2>(f);
  }
}

template <int Threads>
__global__ void reduce_rows(const float* x, float* sums, int cols) {
  __shared__ float tree[Threads];
  const int tid = threadIdx.x;

  float mine = 0.0f;
  for (int i = tid; i < cols; i += Threads) mine += x[blockIdx.x * cols + i];
  tree[tid] = mine;
  __syncthreads();

  halving<Threads / 2>([&]<int Step>() {
    if (tid < Step) tree[tid] += tree[tid + Step];
    __syncthreads();
  });

  if (tid == 0) sums[blockIdx.x] = tree[0];
}
