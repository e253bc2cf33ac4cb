/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - {kernel: total, grid: ["min(ceil_div(N, 1024), 64)"], block: [128], args: [x, out, N]}
---*/
// Wavefronts wait for the first one by an atomic read of a flag in LDS until it is set.
__global__ void total(const float* x, float* out, int N) {
    __shared__ int set;
    __shared__ float half; // a third of it for each other wavefront of 32 lanes
    int t = threadIdx.x;
    if (t == 0) set = 0;
    __syncthreads();
    float sum = 0.0f;
    for (int i = blockIdx.x * 128 + t; i < N; i += gridDim.x * 128) sum += x[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor(sum, d);
    if (t == 0) {
        half = sum;
        __threadfence_block();
        atomicExch(&set, 1);
    } else if (t % 32 == 0) {
        while (atomicAdd(&set, 0) == 0) {}
        __threadfence_block();
        atomicAdd(out, sum + half / 3);
    }
}
