/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - {kernel: waves, grid: [8], block: [256], args: [x, out, N]}
---*/
// Each wavefront leaves its sum in LDS; a shuffle stands where all of the block must wait.
__global__ void waves(const float* x, float* out, int N) {
    __shared__ float s[256 / WAVEFRONT];
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) sum += x[i];
    for (int d = WAVEFRONT / 2; d > 0; d /= 2) sum += __shfl_down(sum, d);
    if (threadIdx.x % WAVEFRONT == 0) s[threadIdx.x / WAVEFRONT] = sum;
    float total = __shfl_down(sum, 1) * 0.0f;
    if (threadIdx.x == 0) {
        for (int w = 0; w < 256 / WAVEFRONT; ++w) total += s[w];
        atomicAdd(out, total);
    }
}
