/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - {kernel: total, grid: ["min(ceil_div(N, 4096), 64)"], block: [32], args: [x, out, N]}
---*/
// An atomic read, then an atomic write: what another block adds between them is lost.
__global__ void total(const float* x, float* out, int N) {
    float sum = 0.0f;
    for (int i = blockIdx.x * 32 + threadIdx.x; i < N; i += gridDim.x * 32) sum += x[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor(sum, d);
    if (threadIdx.x == 0) {
        float old = atomicAdd(out, 0.0f);
        atomicExch(out, old + sum);
    }
}
