/*---
launches:
  - {memset: {buffer: most, byte: 0}}
  - {kernel: largest, grid: ["min(8, ceil_div(N, 128))"], block: [128], args: [x, most, N]}
---*/
__device__ void atomic_max(float* address, float value) {
    unsigned int* bits = (unsigned int*)address;
    unsigned int old = *bits, assumed;
    while (__uint_as_float(old) < value) {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_uint(value));
        if (old == assumed) break;
    }
}

__global__ void largest(const float* x, float* most, int n) {
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) mine = fmaxf(mine, fabsf(x[i]));
    atomic_max(most, mine);
}
