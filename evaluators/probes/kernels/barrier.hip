/*---
probe:
  question: What does a barrier cost, by the size of a block?
  buffers: {out: {dtype: int32, elements: 1}}
  cases: [{THREADS: 64, COUNT: 2000}, {THREADS: 256, COUNT: 2000}, {THREADS: 1024, COUNT: 2000}]
  baseline: {COUNT: 0}
  per: COUNT
launches:
  - {kernel: barriers, grid: [1], block: ["THREADS"], args: [out, COUNT]}
---*/
#include <hip/hip_runtime.h>

__global__ void barriers(int *out, int count) {
    for (int i = 0; i < count; ++i) __syncthreads();
    if (threadIdx.x == 0) out[0] = count;
}
