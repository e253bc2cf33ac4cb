/*---
launches:
  - kernel: reduce0
    grid: [BLOCKS]
    block: [128]
    args: [x, parts, N]
  - kernel: reduce0
    grid: [1]
    block: [128]
    args: [parts, out, {value: "BLOCKS", type: int32}]
scratch: {parts: "4 * BLOCKS"}
params: {BLOCKS: 128}
---*/
// The first step of the well-known lecture: interleaved addressing with a modulo.
__global__ void reduce0(const float *g_idata, float *g_odata, int n) {
    __shared__ float sdata[128];
    unsigned int tid = threadIdx.x;
    float mine = 0;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        mine += g_idata[i];
    sdata[tid] = mine;
    __syncthreads();
    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}
