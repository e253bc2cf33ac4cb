/*---
launches:
  - {kernel: count_flags, grid: ["ceil_div(N, 64)"], block: [64], args: [flags, y, N, inclusive]}
---*/
__global__ void count_flags(const bool* flags, int* y, int n, bool inclusive) {
    __shared__ int part[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    part[threadIdx.x] = i < n && flags[i] ? 1 : 0;
    __syncthreads();
    int count = 0;
    for (unsigned k = 0; k < threadIdx.x + (inclusive ? 1 : 0); ++k) count += part[k];
    if (i < n) y[i] = count;
}
