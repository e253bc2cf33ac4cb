/*---
scratch: {lock: 4}
launches:
  - {memset: {buffer: lock, byte: 0}}
  - {memset: {buffer: out, byte: 0}}
  - {kernel: locked, grid: ["min(ceil_div(N, 1024), 64)"], block: [256], args: [x, lock, out, N]}
---*/
// Locks of atomics round plain additions: a thread of each wavefront to LDS, one of each block to
// out. Blocks keep what is theirs in LDS while they wait.
__global__ void locked(const float* x, int* lock, float* out, int N) {
    __shared__ int held;
    __shared__ float acc, own[256];
    if (threadIdx.x == 0) held = 0, acc = 0.0f;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) sum += x[i];
    own[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        for (int i = 1; i < 32; ++i) sum += own[threadIdx.x + i];
        for (bool waits = true; waits;) {
            if (atomicCAS(&held, 0, 1) != 0) continue;
            __threadfence_block();
            acc += sum;
            __threadfence_block();
            atomicExch(&held, 0);
            waits = false;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        out[0] += acc;
        __threadfence();
        atomicExch(lock, 0);
    }
}
