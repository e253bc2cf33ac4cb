/*---
probe:
  question: What do LDS reads cost, by the stride between lanes?
  buffers: {data: {elements: 1024}}
  cases:
    - {STRIDE: 1, COUNT: 256}
    - {STRIDE: 2, COUNT: 256}
    - {STRIDE: 4, COUNT: 256}
    - {STRIDE: 8, COUNT: 256}
    - {STRIDE: 16, COUNT: 256}
    - {STRIDE: 32, COUNT: 256}
    - {STRIDE: 33, COUNT: 256}
  baseline: {COUNT: 0}
  per: "COUNT * 8"
launches:
  - {kernel: reads, grid: [1], block: [1024], args: [data, STRIDE, COUNT]}
---*/
#include <hip/hip_runtime.h>

// Steps of 32 floats change no bank; an offset changes that of all lanes alike.
__global__ void reads(float *data, int stride, int count) {
    __shared__ float lds[4104];
    for (int i = threadIdx.x; i < 4104; i += blockDim.x) lds[i] = data[i & 1023];
    __syncthreads();
    int at = (threadIdx.x % WAVEFRONT) * stride;
    float sum = 0.0f;
    for (int i = 0; i < count; ++i) {
        #pragma unroll
        for (int j = 0; j < 8; ++j) sum += lds[at + j];
        at = (at + 32) & 4095;
    }
    data[threadIdx.x] = sum;
}
