/*---
launches:
  - {kernel: walsh_hadamard, grid: [8], block: [128], args: [data]}
---*/
// Brings: a task without any dim, workloads that are empty, a kernel whose one argument is a buffer.
#include <hip/hip_runtime.h>

#define LENGTH 256

__global__ void walsh_hadamard(float *data)
{
    __shared__ float s[LENGTH];
    float *mine = data + blockIdx.x * LENGTH;

    for (int i = threadIdx.x; i < LENGTH; i += blockDim.x)
        s[i] = mine[i];

    for (int half = 1; half < LENGTH; half *= 2) {
        __syncthreads();
        int low = threadIdx.x / half * 2 * half + threadIdx.x % half;
        float a = s[low], b = s[low + half];
        s[low] = a + b;
        s[low + half] = a - b;
    }
    __syncthreads();

    for (int i = threadIdx.x; i < LENGTH; i += blockDim.x)
        mine[i] = s[i] * 0.0625f;
}
