/*---
scratch: {partial: 65536, count: 4}
launches:
  - {memset: {buffer: count, byte: 0}}
  - {kernel: total, grid: ["min(ceil_div(N, 256), 64)"], block: [256], args: [x, out, partial, count, N]}
---*/
// All write, then one fences for all and counts, as cooperative groups do.
__global__ void total(const float* x, float* out, float* partial, unsigned* count, int N) {
    __shared__ bool last;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) sum += x[i];
    partial[blockIdx.x * 256 + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 255) {
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        sum = 0.0f;
        for (int i = 0; i < gridDim.x * 256; ++i) sum += partial[i];
        out[0] = sum;
    }
}
