/*---
launches:
  - kernel: transpose
    grid: ["ceil_div(C, 64)", "ceil_div(R, 64)"]
    block: [128]
    args: [x, y, R, C]
---*/
// Two wavefronts fill a tile, and read each other's half after a barrier of one wavefront.
__global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[64][65];
    int r0 = blockIdx.y * 64, c0 = blockIdx.x * 64, t = threadIdx.x % 64;
    int first = threadIdx.x / 64 * 32;
    for (int j = first; j < first + 32; ++j)
        if (r0 + t < R && c0 + j < C) tile[t][j] = x[(r0 + t) * C + c0 + j];
    __syncwarp();
    for (int j = first; j < first + 32; ++j)
        if (c0 + t < C && r0 + j < R) y[(c0 + t) * R + r0 + j] = tile[j][t];
}
