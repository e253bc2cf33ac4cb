/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - {kernel: sum, grid: ["min(ceil_div(N, 256), 1024)"], block: [256], args: [x, out, N]}
---*/
// The sum in double precision: one atomic addition a block.
__global__ void sum(const float* x, double* out, int N) {
    __shared__ double part[256];
    double mine = 0;
    for (long long i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) mine += x[i];
    part[threadIdx.x] = mine;
    for (int width = 128; width > 0; width /= 2) {
        __syncthreads();
        if (threadIdx.x < width) part[threadIdx.x] += part[threadIdx.x + width];
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
