/*---
probe:
  question: What does a launch cost, and a block that does next to nothing?
  buffers: {out: {dtype: int32, elements: 1024}}
  cases:
    - {BLOCKS: 1, THREADS: 256}
    - {BLOCKS: $blocks, THREADS: 64}
    - {BLOCKS: $blocks, THREADS: 256}
    - {BLOCKS: $blocks, THREADS: 1024}
launches:
  - {kernel: empty, grid: ["BLOCKS"], block: ["THREADS"], args: [out]}
---*/
#include <hip/hip_runtime.h>

__global__ void empty(int *out) {  // one number a block, without which a compiler leaves it out
    if (threadIdx.x == 0) out[blockIdx.x & 1023] = blockIdx.x;
}
