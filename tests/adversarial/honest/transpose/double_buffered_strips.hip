/*---
launches:
  - kernel: transpose_strips
    grid: ["ceil_div(C, 16)"]
    block: [16, 16]
    args: [x, y, R, C]
---*/
// A block walks down a strip of 16 columns with two tiles: one is written while the other fills.
__device__ void load(float (*tile)[17], const float* x, int r0, int c0, int R, int C) {
    const int r = r0 + threadIdx.y, c = c0 + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = r < R && c < C ? x[(size_t)r * C + c] : 0.0f;
}

__global__ void transpose_strips(const float* x, float* y, int R, int C) {
    __shared__ float tiles[2][16][17];
    const int c0 = blockIdx.x * 16;
    int now = 0;
    load(tiles[0], x, 0, c0, R, C);
    __syncthreads();
    for (int r0 = 0; r0 < R; r0 += 16) {
        if (r0 + 16 < R) load(tiles[now ^ 1], x, r0 + 16, c0, R, C);
        const int r = r0 + threadIdx.x, c = c0 + threadIdx.y;
        if (r < R && c < C) y[(size_t)c * R + r] = tiles[now][threadIdx.x][threadIdx.y];
        __syncthreads();
        now ^= 1;
    }
}
