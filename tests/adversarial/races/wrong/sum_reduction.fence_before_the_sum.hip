/*---
scratch: {partial: 1024, count: 4}
launches:
  - {memset: {buffer: count, byte: 0}}
  - {kernel: total, grid: ["min(ceil_div(N, 32), 64)"], block: [32], args: [x, out, partial, count, N]}
---*/
// A fence holds for what was written before it.
__global__ void total(const float* x, float* out, float* partial, unsigned* count, int N) {
    __shared__ bool last;
    float sum = 0.0f;
    for (int i = blockIdx.x * 32 + threadIdx.x; i < N; i += gridDim.x * 32) sum += x[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor(sum, d);
    if (threadIdx.x == 0) {
        __threadfence();
        partial[blockIdx.x] = sum;
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        sum = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
        out[0] = sum;
    }
}
