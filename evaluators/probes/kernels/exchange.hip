/*---
probe:
  question: What does it cost that the threads of a block exchange a value through LDS?
  buffers: {data: {elements: 1024, fill: iota}}
  cases: [{THREADS: 64, COUNT: 500}, {THREADS: 256, COUNT: 500}, {THREADS: 1024, COUNT: 500}]
  baseline: {COUNT: 0}
  per: COUNT
launches:
  - {kernel: exchange, grid: [1], block: ["THREADS"], args: [data, COUNT]}
---*/
#include <hip/hip_runtime.h>

__global__ void exchange(float *data, int count) {
    __shared__ float lds[1024];
    int thread = threadIdx.x;
    float value = data[thread];
    for (int i = 0; i < count; ++i) {
        lds[thread] = value;
        __syncthreads();
        value = lds[thread ^ 1] + 1.0f;
        __syncthreads();
    }
    data[thread] = value;
}
