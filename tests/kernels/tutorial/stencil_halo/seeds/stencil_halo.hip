/*---
launches:
  - kernel: stencil_1d
    grid: ["(N + BLOCK_SIZE - 1) // BLOCK_SIZE"]
    block: [BLOCK_SIZE]
    args: [signal, filtered, N]
params: {BLOCK_SIZE: 128}
space: {BLOCK_SIZE: [64, 128, 256]}
---*/
#include <hip/hip_runtime.h>

#define RADIUS 3

__constant__ float weights[2 * RADIUS + 1] = {0.05f, 0.1f, 0.2f, 0.3f, 0.2f, 0.1f, 0.05f};

__global__ void stencil_1d(const float *in, float *out, int n)
{
    __shared__ float temp[BLOCK_SIZE + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x;
    int lindex = threadIdx.x + RADIUS;

    // Read input elements into shared memory
    temp[lindex] = (gindex < n) ? in[gindex] : 0.0f;
    if (threadIdx.x < RADIUS) {
        int left  = gindex - RADIUS;
        int right = gindex + BLOCK_SIZE;
        temp[lindex - RADIUS]     = (left >= 0 && left < n) ? in[left] : 0.0f;
        temp[lindex + BLOCK_SIZE] = (right < n) ? in[right] : 0.0f;
    }

    // Synchronize (ensure all the data is available)
    __syncthreads();

    // Apply the stencil
    if (gindex < n) {
        float result = 0.0f;
        for (int offset = -RADIUS; offset <= RADIUS; offset++)
            result += weights[offset + RADIUS] * temp[lindex + offset];

        // Store the result
        out[gindex] = result;
    }
}
