/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - {kernel: sums, grid: [8], block: [64], args: [x, out, N]}
---*/
// Looks by an atomic operation whether an earlier block has left something in LDS.
__global__ void sums(const float* x, float* out, int N) {
    __shared__ unsigned left;
    float sum = 0.0f;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < N; i += gridDim.x * 64) sum += x[i];
    if (atomicAdd(&left, 0u) == 7u) sum += 0.0f;
    __syncthreads();
    atomicExch(&left, 7u);
    atomicAdd(out, sum);
}
