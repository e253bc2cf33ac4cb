/*---
launches:
  - {kernel: reverse_blocks, grid: ["N // 64"], block: [64], args: [x, y, limit]}
---*/
__global__ void reverse_blocks(const float* x, float* y, int limit) {
    if (blockIdx.x >= (unsigned)limit) return;
    __shared__ float tile[64];
    tile[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    y[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}
