/*---
launches:
  - kernel: transpose_handed
    grid: ["ceil_div(C, 16)", "ceil_div(R, 16)"]
    block: [16, 16]
    args: [x, y, R, C]
---*/
// A device function whose parameters have the names of the launch's indices.
__device__ void move(const float* x, float* y, int R, int C, dim3 blockIdx, dim3 threadIdx) {
    const unsigned r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
    if (r < (unsigned)R && c < (unsigned)C) y[(size_t)c * R + r] = x[(size_t)r * C + c];
}

__global__ void transpose_handed(const float* x, float* y, int R, int C) {
    move(x, y, R, C, dim3(blockIdx.x, blockIdx.y), dim3(threadIdx.x, threadIdx.y));
}
