/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - {kernel: total, grid: ["min(ceil_div(N, 1024), 64)"], block: [256], args: [x, out, N]}
---*/
// An atomic read, then an atomic write: what another thread adds to LDS between them is lost.
__global__ void total(const float* x, float* out, int N) {
    __shared__ float acc;
    if (threadIdx.x == 0) acc = 0.0f;
    __syncthreads();
    float mine = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) mine += x[i];
    atomicExch(&acc, atomicAdd(&acc, 0.0f) + mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, acc);
}
