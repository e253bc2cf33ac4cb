/*---
launches:
  - kernel: transpose_persistent
    grid: [BLOCKS]
    block: [32, 8]
    args: [x, y, R, C]
params: {BLOCKS: 80}
space: {BLOCKS: [1, 80, 304, 608]}
---*/
// A fixed number of blocks, tile after tile through the same LDS.
__global__ void transpose_persistent(const float* x, float* y, int R, int C) {
    __shared__ float lds[32][33];
    const int across = (C + 31) / 32;
    const int tiles = across * ((R + 31) / 32);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int r0 = tile / across * 32, c0 = tile % across * 32;
        for (int i = threadIdx.y; i < 32; i += 8) {
            if (r0 + i < R && c0 + threadIdx.x < C) {
                lds[i][threadIdx.x] = x[(size_t)(r0 + i) * C + c0 + threadIdx.x];
            }
        }
        __syncthreads();
        for (int i = threadIdx.y; i < 32; i += 8) {
            if (c0 + i < C && r0 + threadIdx.x < R) {
                y[(size_t)(c0 + i) * R + r0 + threadIdx.x] = lds[threadIdx.x][i];
            }
        }
        __syncthreads();
    }
}
