/*---
probe:
  question: How fast is a copy, by memory level and by the bytes that a thread moves at once?
  buffers:
    source: {elements: "BYTES // 4"}
    target: {elements: "BYTES // 4"}
  cases: $cases
  bytes: "2 * BYTES * ROUNDS"
  show: {target: 1}
launches:
  - {kernel: copy<float4>, when: "WIDTH == 16", grid: ["BYTES // 4096 * ROUNDS"], block: [256],
     args: [source, target, {value: "BYTES // 4096", type: int32}]}
  - {kernel: copy<float2>, when: "WIDTH == 8", grid: ["BYTES // 2048 * ROUNDS"], block: [256],
     args: [source, target, {value: "BYTES // 2048", type: int32}]}
  - {kernel: copy<float>, when: "WIDTH == 4", grid: ["BYTES // 1024 * ROUNDS"], block: [256],
     args: [source, target, {value: "BYTES // 1024", type: int32}]}
  - {kernel: copy<short>, when: "WIDTH == 2", grid: ["BYTES // 512 * ROUNDS"], block: [256],
     args: [source, target, {value: "BYTES // 512", type: int32}]}
  - {kernel: copy<char>, when: "WIDTH == 1", grid: ["BYTES // 256 * ROUNDS"], block: [256],
     args: [source, target, {value: "BYTES // 256", type: int32}]}
---*/
#include <hip/hip_runtime.h>

// Blocks beyond the first so many copy the same again: what fits into a cache comes from there.
template <typename T> __global__ void copy(const T *__restrict__ from, T *__restrict__ to, int blocks) {
    int at = (blockIdx.x % blocks) * blockDim.x + threadIdx.x;
    to[at] = from[at];
}
