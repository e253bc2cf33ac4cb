/*---
scratch: {lock: 4}
launches:
  - {memset: {buffer: lock, byte: 0}}
  - {memset: {buffer: out, byte: 0}}
  - kernel: locked
    grid: ["ceil_div(N, 8192)"]
    block: [32]
    args: [x, lock, out, N]
---*/
// A lock of atomics round a plain addition: one thread of each block takes it.
__global__ void locked(const float* x, int* lock, float* out, int N) {
    float sum = 0.0f;
    for (int i = blockIdx.x * 32 + threadIdx.x; i < N; i += gridDim.x * 32) sum += x[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor(sum, d);
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        out[0] += sum;
        __threadfence();
        atomicExch(lock, 0);
    }
}
