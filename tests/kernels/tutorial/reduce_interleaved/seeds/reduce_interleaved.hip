/*---
launches:
  - kernel: reduce0
    grid: ["ceil_div(N, 128)"]
    block: [128]
    lds_bytes: "128 * 4"
    args: [x, partial, N]
  - kernel: reduce0
    grid: ["ceil_div(ceil_div(N, 128), 128)"]
    block: [128]
    lds_bytes: "128 * 4"
    args: [partial, partial2, {value: "ceil_div(N, 128)", type: int32}]
  - kernel: finish
    grid: [1]
    block: [64]
    args: [partial2, total, {value: "ceil_div(ceil_div(N, 128), 128)", type: int32}]
scratch: {partial: "4 * ceil_div(N, 128)", partial2: "4 * ceil_div(ceil_div(N, 128), 128)"}
---*/
#include <hip/hip_runtime.h>

__global__ void reduce0(const float *g_idata, float *g_odata, int n)
{
    extern __shared__ float sdata[];

    // each thread loads one element from global to shared memory
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = (i < n) ? g_idata[i] : 0;
    __syncthreads();

    // interleaved addressing
    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }

    // write result for this block to global memory
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

// The few sums that are left: each thread strides over them, then the same tree.
__global__ void finish(const float *in, float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    float v = 0;
    for (int i = t; i < n; i += 64) v += in[i];
    s[t] = v;
    __syncthreads();
    for (int d = 1; d < 64; d <<= 1) {
        int k = 2 * d * t;
        if (k + d < 64) s[k] += s[k + d];
        __syncthreads();
    }
    if (t == 0) *out = s[0];
}
