/*---
launches:
  - {memset: {buffer: dot, byte: 0}}
  - kernel: dotProduct
    grid: ["min(4, ceil_div(N, 4 * 256))"]
    block: [256]
    args: [x, y, dot, N]
---*/
#include <hip/hip_runtime.h>

#define threadsPerBlock 256

__global__ void dotProduct(const float *x, const float *y, float *dot, int n)
{
    __shared__ float cache[threadsPerBlock];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;

    const float4 *x4 = reinterpret_cast<const float4 *>(x);
    const float4 *y4 = reinterpret_cast<const float4 *>(y);
    int quads = n / 4;

    float temp = 0;
    while (tid < quads) {
        float4 p = x4[tid], q = y4[tid];
        temp += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
        tid += blockDim.x * gridDim.x;
    }

    // what four does not divide
    if (blockIdx.x == 0 && threadIdx.x < n % 4) {
        int last = quads * 4 + threadIdx.x;
        temp += x[last] * y[last];
    }

    // set the cache values
    cache[cacheIndex] = temp;

    // synchronize threads in this block
    __syncthreads();

    // for reductions, threadsPerBlock must be a power of 2
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }

    if (cacheIndex == 0)
        atomicAdd(dot, cache[0]);
}
