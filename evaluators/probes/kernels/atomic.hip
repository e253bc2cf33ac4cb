/*---
probe:
  question: What does an atomicAdd cost, on one address and on many?
  buffers:
    ints: {dtype: int32, elements: "MASK + 1"}
    floats: {elements: "MASK + 1"}
  cases:
    - {FLOAT: 0, MASK: 0, BLOCKS: $blocks}
    - {FLOAT: 0, MASK: 65535, BLOCKS: $blocks}
    - {FLOAT: 1, MASK: 0, BLOCKS: $blocks}
    - {FLOAT: 1, MASK: 65535, BLOCKS: $blocks}
  per: "BLOCKS * 256"
  show: {ints: 1, floats: 1}
launches:
  - {kernel: add<int>, when: "FLOAT == 0", grid: ["BLOCKS"], block: [256], args: [ints, MASK]}
  - {kernel: add<float>, when: "FLOAT == 1", grid: ["BLOCKS"], block: [256], args: [floats, MASK]}
---*/
#include <hip/hip_runtime.h>

template <typename T> __global__ void add(T *sums, int mask) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sums[at & mask], (T)1);
}
