/*---
launches:
  - kernel: transpose_tile
    grid: ["ceil_div(C, DIM)", "ceil_div(R, DIM)"]
    block: [DIM, DIM]
    args: [x, y, R, C]
params: {DIM: 16}
space: {DIM: [8, 16, 32]}
---*/
// A thread an element, through a square of LDS.
__global__ void transpose_tile(const float* in, float* out, int rows, int cols) {
    __shared__ float block[DIM][DIM];
    const int c = blockIdx.x * DIM + threadIdx.x;
    const int r = blockIdx.y * DIM + threadIdx.y;
    const bool inside = r < rows && c < cols;
    if (inside) block[threadIdx.y][threadIdx.x] = in[(size_t)r * cols + c];
    __syncthreads();
    const int r2 = blockIdx.y * DIM + threadIdx.x;
    const int c2 = blockIdx.x * DIM + threadIdx.y;
    if (r2 < rows && c2 < cols) out[(size_t)c2 * rows + r2] = block[threadIdx.x][threadIdx.y];
}
