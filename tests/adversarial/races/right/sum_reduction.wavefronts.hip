/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: waves
    grid: ["min(ceil_div(N, 1024), 64)"]
    block: [256]
    args: [x, out, N]
---*/
// Shuffles, LDS for one value a wavefront, one atomic addition a block.
__global__ void waves(const float* x, float* out, int N) {
    __shared__ float s[256 / WAVEFRONT];
    const int lane = threadIdx.x % WAVEFRONT, wave = threadIdx.x / WAVEFRONT;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) sum += x[i];
    for (int d = WAVEFRONT / 2; d > 0; d /= 2) sum += __shfl_down(sum, d);
    if (lane == 0) s[wave] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 256 / WAVEFRONT; ++w) sum += s[w];
        atomicAdd(out, sum);
    }
}
