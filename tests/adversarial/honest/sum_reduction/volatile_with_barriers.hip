/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: sum_volatile
    grid: ["min(ceil_div(N, 1024), 128)"]
    block: [64]
    args: [x, out, N]
---*/
// volatile out of habit; every step has its barrier all the same.
__global__ void sum_volatile(const float* x, float* out, int n) {
    __shared__ float lds[64];
    volatile float* s = lds;
    float v = 0.0f;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) v += x[i];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = 32; d > 0; d >>= 1) {
        if (threadIdx.x < d) s[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, s[0]);
}
