/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: cas_sum
    grid: ["min(ceil_div(N, 4096), 256)"]
    block: [128]
    args: [x, out, N]
---*/
// Atomic addition by compare and swap on the bits, as before floats had it.
__device__ void atomic_add_by_cas(float* address, float value) {
    unsigned* bits = (unsigned*)address;
    unsigned seen = atomicAdd(bits, 0u), assumed;
    do {
        assumed = seen;
        seen = atomicCAS(bits, assumed, __float_as_uint(__uint_as_float(assumed) + value));
    } while (seen != assumed);
}

__global__ void cas_sum(const float* x, float* out, int n) {
    __shared__ float cache[128];
    int cacheIndex = threadIdx.x;
    float temp = 0;
    for (int t = threadIdx.x + blockIdx.x * blockDim.x; t < n; t += blockDim.x * gridDim.x)
        temp += x[t];
    cache[cacheIndex] = temp;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0) atomic_add_by_cas(out, cache[0]);
}
