/*---
launches:
  - kernel: transpose
    grid: ["ceil_div(C, 32)", "ceil_div(R, 32)"]
    block: [32, 8]
    args: [x, y, R, C]
---*/
// A padded tile in LDS.
__global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (r + k < R && c < C) tile[k][threadIdx.x] = x[(r + k) * C + c];
    __syncthreads();
    c = blockIdx.x * 32;
    r += threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (r < R && c + k < C) y[(c + k) * R + r] = tile[threadIdx.x][k];
}
