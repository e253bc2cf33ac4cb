/*---
launches:
  - kernel: transpose
    grid: ["ceil_div(C, 32)", "ceil_div(R, 32)"]
    block: [32, 8]
    args: [x, y, R, C]
params: {WAITS: 1}
variants: [{when: "R * C > 100000", params: {WAITS: 0}}]
---*/
__global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r0 = blockIdx.y * 32;
    for (int i = threadIdx.y; i < 32; i += 8)
        if (r0 + i < R && c < C) tile[i][threadIdx.x] = x[(r0 + i) * C + c];
#if WAITS
    __syncthreads();
#else
    __syncwarp();
#endif
    int r = r0 + threadIdx.x, c0 = blockIdx.x * 32;
    for (int i = threadIdx.y; i < 32; i += 8)
        if (r < R && c0 + i < C) y[(c0 + i) * R + r] = tile[threadIdx.x][i];
}
