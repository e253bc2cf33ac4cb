/*---
launches:
  - {kernel: differences, grid: [B, B], block: [64], args: [x, y]}
---*/
__device__ void difference(const float* x, float* y) {
    if (blockIdx.x > blockIdx.y) return;
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x >= 63) return;
    y[threadIdx.x] = s[threadIdx.x + 1] - s[threadIdx.x];
}

__global__ void differences(const float* x, float* y) {
    size_t block = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * 64;
    difference(x + block, y + block);
}
