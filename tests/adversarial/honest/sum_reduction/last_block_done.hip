/*---
launches:
  - {memset: {buffer: counter, byte: 0}}
  - kernel: single_pass
    grid: [BLOCKS]
    block: [256]
    args: [x, out, parts, counter, N]
scratch: {parts: "4 * BLOCKS", counter: 4}
params: {BLOCKS: 120}
space: {BLOCKS: [8, 60, 120, 304]}
---*/
// A single pass: blocks leave their sums, and the last to finish, whichever that is, adds them in
// the order of blocks (as CUDA's sample threadFenceReduction does).
__device__ float block_sum(float v, float* lds) {
    lds[threadIdx.x] = v;
    __syncthreads();
    for (int n = 128; n > 0; n >>= 1) {
        if (threadIdx.x < n) lds[threadIdx.x] += lds[threadIdx.x + n];
        __syncthreads();
    }
    return lds[0];
}

__global__ void single_pass(const float* x, float* out, float* parts, unsigned* counter, int n) {
    __shared__ float lds[256];
    __shared__ bool last;
    float v = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) v += x[i];
    v = block_sum(v, lds);
    if (threadIdx.x == 0) {
        __hip_atomic_store(&parts[blockIdx.x], v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        __threadfence();
        last = atomicAdd(counter, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        v = 0.0f;
        for (int i = threadIdx.x; i < gridDim.x; i += 256) {
            v += __hip_atomic_load(&parts[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        }
        v = block_sum(v, lds);
        if (threadIdx.x == 0) *out = v;
    }
}
