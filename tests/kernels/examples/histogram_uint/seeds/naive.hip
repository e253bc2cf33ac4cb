/*---
launches:
  - {memset: {buffer: bins, byte: 0}}
  - {kernel: histogram, grid: ["min(16, ceil_div(N, 256))"], block: [256], args: [data, bins, N]}
---*/
__global__ void histogram(const unsigned char* data, uint32_t* bins, int n) {
    __shared__ uint32_t local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    if (local[threadIdx.x] != 0) atomicAdd(bins + threadIdx.x, local[threadIdx.x]);
}
