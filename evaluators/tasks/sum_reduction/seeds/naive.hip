/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: sum_reduction
    grid: ["min(ceil_div(N, 256), 1024)"]
    block: [256]
    args: [x, out, N]
---*/
// A grid-stride loop, and one atomic addition a thread.
__global__ void sum_reduction(const float* x, float* out, int N) {
    int stride = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) {
        sum += x[i];
    }
    atomicAdd(out, sum);
}
