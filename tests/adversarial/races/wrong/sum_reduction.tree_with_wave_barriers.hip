/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - {kernel: tree, grid: [8], block: [256], args: [x, out, N]}
---*/
// A tree over four wavefronts whose steps wait for the own wavefront only.
__global__ void tree(const float* x, float* out, int N) {
    __shared__ float part[256];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + t; i < N; i += gridDim.x * 256) sum += x[i];
    part[t] = sum;
    for (int w = 128; w > 0; w /= 2) {
        __syncwarp();
        if (t < w) part[t] += part[t + w];
    }
    if (t == 0) atomicAdd(out, part[0]);
}
