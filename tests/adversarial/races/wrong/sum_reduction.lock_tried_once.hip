/*---
scratch: {lock: 4}
launches:
  - {memset: {buffer: out, byte: 0}}
  - {memset: {buffer: lock, byte: 0}}
  - {kernel: total, grid: ["min(ceil_div(N, 4096), 64)"], block: [32], args: [x, lock, out, N]}
---*/
// A block that does not get the lock at once gives up its sum.
__global__ void total(const float* x, int* lock, float* out, int N) {
    float sum = 0.0f;
    for (int i = blockIdx.x * 32 + threadIdx.x; i < N; i += gridDim.x * 32) sum += x[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor(sum, d);
    if (threadIdx.x == 0 && atomicCAS(lock, 0, 1) == 0) {
        __threadfence();
        out[0] += sum;
        __threadfence();
        atomicExch(lock, 0);
    }
}
