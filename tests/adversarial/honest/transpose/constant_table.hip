/*---
launches:
  - kernel: transpose_table
    grid: ["ceil_div(C, 16)", "ceil_div(R, 16)"]
    block: [64]
    args: [x, y, R, C]
---*/
// Each thread holds four elements across the barrier; a table tells in which rows they lie.
__constant__ int row_of[4] = {0, 8, 4, 12};

__global__ void transpose_table(const float* x, float* y, int R, int C) {
    __shared__ float lds[16][17];
    const int j = threadIdx.x % 16, i = threadIdx.x / 16;
    const int r0 = blockIdx.y * 16, c0 = blockIdx.x * 16;
    float held[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int r = r0 + row_of[k] + i;
        held[k] = r < R && c0 + j < C ? x[(size_t)r * C + c0 + j] : 0.0f;
    }
    int k = 0;
    for (float& v : held) lds[row_of[k++] + i][j] = v;
    __syncthreads();
    for (k = 0; k < 4; ++k) held[k] = lds[j][row_of[k] + i];
    __syncthreads();
    for (k = 0; k < 4; ++k) {
        const int c = c0 + row_of[k] + i, r = r0 + j;
        if (r < R && c < C) y[(size_t)c * R + r] = held[k];
    }
}
