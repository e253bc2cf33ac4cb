/*---
launches:
  - kernel: fold<add, 128>
    grid: [BLOCKS]
    block: [128]
    args: [x, parts, N]
  - kernel: fold<add, 128>
    grid: [1]
    block: [128]
    args: [parts, out, {value: "BLOCKS", type: int32}]
scratch: {parts: "4 * BLOCKS"}
params: {BLOCKS: 72}
---*/
// The operation is a function given as a template argument.
__device__ float add(float a, float b) { return a + b; }

template <float (*OP)(float, float), int THREADS>
__global__ void fold(const float* from, float* to, int n) {
    __shared__ float lds[THREADS];
    float v = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        v = OP(v, from[i]);
    }
    lds[threadIdx.x] = v;
    __syncthreads();
    for (int d = THREADS / 2; d > 0; d /= 2) {
        if (threadIdx.x < d) lds[threadIdx.x] = OP(lds[threadIdx.x], lds[threadIdx.x + d]);
        __syncthreads();
    }
    if (threadIdx.x == 0) to[blockIdx.x] = lds[0];
}
