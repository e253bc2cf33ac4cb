/*---
probe:
  question: Whose value does a shuffle give to which lane?
  buffers:
    down: {dtype: int32, elements: 64}
    up: {dtype: int32, elements: 64}
    across: {dtype: int32, elements: 64}
  cases: [{DISTANCE: 1}, {DISTANCE: 5}, {DISTANCE: 16}]
  show: {down: 64, up: 64, across: 64}
launches:
  - {kernel: order, grid: [1], block: [64], args: [down, up, across, DISTANCE]}
---*/
#include <hip/hip_runtime.h>

__global__ void order(int *down, int *up, int *across, int distance) {
    int thread = threadIdx.x;
    down[thread] = __shfl_down(thread, distance);
    up[thread] = __shfl_up(thread, distance);
    across[thread] = __shfl_xor(thread, distance);
}
