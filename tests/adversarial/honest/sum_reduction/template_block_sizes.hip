/*---
launches:
  - kernel: reduce6<float, 256>
    grid: [64]
    block: [256]
    args: [x, parts, N]
  - kernel: reduce6<float, 64>
    grid: [1]
    block: [64]
    args: [parts, out, {value: 64, type: int32}]
scratch: {parts: 256}
---*/
// A tree that a template unrolls; every step has its barrier.
template <class T, unsigned int blockSize>
__global__ void reduce6(const T* g_idata, T* g_odata, int n) {
    __shared__ T sdata[blockSize];
    const unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockSize * 2) + tid;
    const unsigned int gridSize = blockSize * 2 * gridDim.x;
    T sum = 0;
    while (i < (unsigned int)n) {
        sum += g_idata[i];
        if (i + blockSize < (unsigned int)n) sum += g_idata[i + blockSize];
        i += gridSize;
    }
    sdata[tid] = sum;
    __syncthreads();
    if constexpr (blockSize >= 256) {
        if (tid < 128) sdata[tid] += sdata[tid + 128];
        __syncthreads();
    }
    if constexpr (blockSize >= 128) {
        if (tid < 64) sdata[tid] += sdata[tid + 64];
        __syncthreads();
    }
    if (tid < 32) sdata[tid] += sdata[tid + 32];
    __syncthreads();
    if (tid < 16) sdata[tid] += sdata[tid + 16];
    __syncthreads();
    if (tid < 8) sdata[tid] += sdata[tid + 8];
    __syncthreads();
    if (tid < 4) sdata[tid] += sdata[tid + 4];
    __syncthreads();
    if (tid < 2) sdata[tid] += sdata[tid + 2];
    __syncthreads();
    if (tid == 0) g_odata[blockIdx.x] = sdata[0] + sdata[1];
}
