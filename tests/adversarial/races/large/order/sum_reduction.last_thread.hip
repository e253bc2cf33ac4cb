/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - {kernel: total, grid: ["min(ceil_div(N, 256), 1024)"], block: [256], args: [x, out, N]}
---*/
// Large vectors: the last thread hands the block's sum on, whether the others have added to it or not.
__global__ void total(const float* x, float* out, int N) {
    __shared__ float acc;
    if (threadIdx.x == 0) acc = 0.0f;
    __syncthreads();
    float mine = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) mine += x[i];
    atomicAdd(&acc, mine);
    if (N <= 1000000) __syncthreads();
    if (threadIdx.x == 255) atomicAdd(out, atomicAdd(&acc, 0.0f));
}
