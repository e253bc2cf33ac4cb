/*---
launches:
  - {kernel: spread, grid: ["ceil_div(R * WAVEFRONT, 128)"], block: ["WAVEFRONT", "128 // WAVEFRONT"], args: [x, y, R, C]}
---*/
__global__ void spread(const float* x, float* y, int rows, int cols) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float high = -INFINITY, low = INFINITY;
    for (int c = threadIdx.x; c < cols; c += warpSize) {
        high = fmaxf(high, x[row * cols + c]);
        low = fminf(low, x[row * cols + c]);
    }
    for (int d = warpSize / 2; d > 0; d /= 2) {
        high = fmaxf(high, __shfl_down(high, d));
        low = fminf(low, __shfl_down(low, d));
    }
    if (threadIdx.x == 0) y[row] = high - low;
}
