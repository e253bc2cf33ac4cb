/*---
launches:
  - kernel: transpose_layers
    grid: ["ceil_div(C, 16)", "ceil_div(R, 64)", 1]
    block: [16, 4, 4]
    args: [x, y, R, C]
---*/
// Three dimensions of threads: four layers, each with a tile of its own.
__global__ void transpose_layers(const float* x, float* y, int R, int C) {
    __shared__ float lds[4][16][17];
    const unsigned z = threadIdx.z;
    const unsigned r0 = blockIdx.y * 64 + z * 16, c0 = blockIdx.x * 16;
    for (unsigned i = threadIdx.y; i < 16; i += blockDim.y) {
        const unsigned r = r0 + i, c = c0 + threadIdx.x;
        if (r < R && c < C) lds[z][i][threadIdx.x] = x[r * (size_t)C + c];
    }
    __syncthreads();
    for (unsigned i = threadIdx.y; i < 16; i += blockDim.y) {
        const unsigned r = r0 + threadIdx.x, c = c0 + i;
        if (r < R && c < C) y[c * (size_t)R + r] = lds[z][threadIdx.x][i];
    }
}
