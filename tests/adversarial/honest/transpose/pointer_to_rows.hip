/*---
launches:
  - kernel: transpose_cast
    grid: ["ceil_div(C, 32)", "ceil_div(R, 32)"]
    block: [32, 8]
    lds_bytes: "4 * 32 * 33"
    args: [x, y, R, C]
---*/
// Dynamic LDS seen through a pointer to rows.
__global__ void transpose_cast(const float* x, float* y, int R, int C) {
    extern __shared__ char bytes[];
    float(*tile)[33] = (float(*)[33])bytes;
    const int c = blockIdx.x * 32 + threadIdx.x, r0 = blockIdx.y * 32;
    for (int i = threadIdx.y; i < 32; i += 8)
        if (r0 + i < R && c < C) tile[i][threadIdx.x] = x[(size_t)(r0 + i) * C + c];
    __syncthreads();
    const int r = r0 + threadIdx.x, c0 = blockIdx.x * 32;
    for (int i = threadIdx.y; i < 32; i += 8)
        if (r < R && c0 + i < C) y[(size_t)(c0 + i) * R + r] = tile[threadIdx.x][i];
}
