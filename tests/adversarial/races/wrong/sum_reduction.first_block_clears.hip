/*---
launches:
  - kernel: clears
    grid: ["ceil_div(N, 1024)"]
    block: [256]
    args: [x, out, N]
---*/
// Block 0 clears the sum that other blocks may have begun.
__global__ void clears(const float* x, float* out, int N) {
    if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = 0.0f;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) sum += x[i];
    atomicAdd(out, sum);
}
