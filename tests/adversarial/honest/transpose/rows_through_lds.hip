/*---
launches:
  - kernel: transpose_rows
    grid: ["ceil_div(R, ROWS)"]
    block: [256]
    args: [x, y, R, C]
params: {ROWS: 8, CHUNK: 128}
space: {ROWS: [4, 8, 16], CHUNK: [64, 128, 256]}
---*/
// ROWS whole rows a block, CHUNK columns at a time; writes are pieces of ROWS elements.
struct Slab {
    float row[ROWS][CHUNK + 1];
};

__device__ void fill(Slab& slab, const float* x, int r0, int c0, int R, int C) {
    for (int i = threadIdx.x; i < ROWS * CHUNK; i += blockDim.x) {
        const int r = i / CHUNK, c = i % CHUNK;
        if (r0 + r < R && c0 + c < C) slab.row[r][c] = x[(size_t)(r0 + r) * C + c0 + c];
    }
}

__global__ void transpose_rows(const float* x, float* y, int R, int C) {
    __shared__ Slab slab;
    const int r0 = blockIdx.x * ROWS;
    for (int c0 = 0; c0 < C; c0 += CHUNK) {
        fill(slab, x, r0, c0, R, C);
        __syncthreads();
        for (int i = threadIdx.x; i < ROWS * CHUNK; i += blockDim.x) {
            const int r = i % ROWS, c = i / ROWS;
            if (r0 + r < R && c0 + c < C) y[(size_t)(c0 + c) * R + r0 + r] = slab.row[r][c];
        }
        __syncthreads();
    }
}
