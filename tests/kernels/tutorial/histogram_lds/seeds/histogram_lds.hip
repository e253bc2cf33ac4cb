/*---
launches:
  - {memset: {buffer: bins, byte: 0}}
  - kernel: histogram64
    grid: ["min(ceil_div(N, 256), 6)"]
    block: [256]
    lds_bytes: "64 * 4"
    args: [keys, bins, N]
---*/
#include <hip/hip_runtime.h>

// the names of the first HIP releases, which runtime compilation does not define
#ifndef hipThreadIdx_x
#define hipThreadIdx_x threadIdx.x
#define hipBlockIdx_x blockIdx.x
#define hipBlockDim_x blockDim.x
#define hipGridDim_x gridDim.x
#endif
#ifndef HIP_DYNAMIC_SHARED
#define HIP_DYNAMIC_SHARED(type, var) extern __shared__ type var[];
#endif

__global__ void histogram64(const int* keys, int* bins, const int n)
{
    HIP_DYNAMIC_SHARED(int, local_bins)

    // clear the private histogram of this block
    for (int b = hipThreadIdx_x; b < 64; b += hipBlockDim_x) {
        local_bins[b] = 0;
    }
    __syncthreads();

    int i = hipThreadIdx_x + hipBlockIdx_x * hipBlockDim_x;
    const int offset = hipBlockDim_x * hipGridDim_x;
    while (i < n) {
        atomicAdd(&local_bins[keys[i]], 1);
        i += offset;
    }
    __syncthreads();

    // and add it to the one in global memory
    if (hipThreadIdx_x < 64) {
        atomicAdd(&(bins[hipThreadIdx_x]), local_bins[hipThreadIdx_x]);
    }
}
