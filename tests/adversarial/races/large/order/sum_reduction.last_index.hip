/*---
launches:
  - {memset: {buffer: count, byte: 0}}
  - {kernel: total, grid: ["min(ceil_div(N, 256), 256)"], block: [256], args: [x, out, partial, count, N]}
scratch: {partial: 1024, count: 4}
---*/
// Large vectors: the block with the last index adds up, whether the others are through or not.
__global__ void total(const float* x, float* out, float* partial, unsigned* count, int N) {
    __shared__ float part[256];
    __shared__ int last;
    float mine = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) mine += x[i];
    part[threadIdx.x] = mine;
    for (int w = 128; w > 0; w /= 2) {
        __syncthreads();
        if (threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
    }
    if (threadIdx.x == 0) {
        atomicExch(&partial[blockIdx.x], part[0]);
        __threadfence();
        unsigned before = atomicAdd(count, 1u);
        last = (N > 1000000 ? blockIdx.x : before) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        part[threadIdx.x] = threadIdx.x < gridDim.x ? atomicAdd(&partial[threadIdx.x], 0.0f) : 0.0f;
        for (int w = 128; w > 0; w /= 2) {
            __syncthreads();
            if (threadIdx.x < w) part[threadIdx.x] += part[threadIdx.x + w];
        }
        if (threadIdx.x == 0) out[0] = part[0];
    }
}
