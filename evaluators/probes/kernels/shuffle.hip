/*---
probe:
  question: How long does a wavefront wait for a shuffle?
  buffers: {data: {dtype: int32, elements: 64, fill: iota}}
  cases: [{DISTANCE: 1, COUNT: 2000}, {DISTANCE: 16, COUNT: 2000}]
  baseline: {COUNT: 0}
  per: COUNT
launches:
  - {kernel: across<1>, when: "DISTANCE == 1", grid: [1], block: [64], args: [data, COUNT]}
  - {kernel: across<16>, when: "DISTANCE == 16", grid: [1], block: [64], args: [data, COUNT]}
---*/
#include <hip/hip_runtime.h>

template <int DISTANCE_> __global__ void across(int *data, int count) {
    int value = data[threadIdx.x];
    for (int i = 0; i < count; ++i) value = __shfl_xor(value, DISTANCE_);
    data[threadIdx.x] = value;
}
