/*---
launches:
  - kernel: transpose
    grid: ["ceil_div(C, 16)", "ceil_div(R, 16)"]
    block: [16, 16]
    args: [x, y, R, C]
---*/
// One element a thread; neighbouring threads read neighbouring elements of x.
__global__ void transpose(const float* x, float* y, int R, int C) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < R && col < C) {
        y[(size_t)col * R + row] = x[(size_t)row * C + col];
    }
}
