/*---
launches:
  - kernel: transpose
    grid: ["ceil_div(C, 32)", "min(ceil_div(R, 32), 65535)"]
    block: [32, 8]
    args: [x, y, R, C]
---*/
// y = x transposed, in double precision, by tiles in LDS.
__global__ void transpose(const float* x, double* y, int R, int C) {
    __shared__ float tile[32][33];
    int col = blockIdx.x * 32 + threadIdx.x;
    for (int top = blockIdx.y * 32; top < R; top += gridDim.y * 32) {
        for (int i = threadIdx.y; i < 32; i += 8)
            if (top + i < R && col < C) tile[i][threadIdx.x] = x[(size_t)(top + i) * C + col];
        __syncthreads();
        for (int i = threadIdx.y; i < 32; i += 8) {
            int row = blockIdx.x * 32 + i;
            if (row < C && top + threadIdx.x < R)
                y[(size_t)row * R + top + threadIdx.x] = tile[threadIdx.x][i];
        }
        __syncthreads();
    }
}
