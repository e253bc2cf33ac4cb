/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: sum_lds_atomic
    grid: ["min(ceil_div(N, 1024), 304)"]
    block: [16, 16]
    args: [x, out, N]
---*/
// Blocks of 16 x 16; eight counters in LDS take the threads' sums by atomics.
__global__ void sum_lds_atomic(const float* x, float* out, int n) {
    __shared__ float bin[8];
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    if (tid < 8) bin[tid] = 0.0f;
    __syncthreads();
    float mine = 0.0f;
    for (int i = blockIdx.x * 256 + tid; i < n; i += gridDim.x * 256) mine += x[i];
    atomicAdd(&bin[tid & 7], mine);
    __syncthreads();
    if (tid == 0) {
        float sum = 0.0f;
        for (int b = 0; b < 8; ++b) sum += bin[b];
        atomicAdd(out, sum);
    }
}
