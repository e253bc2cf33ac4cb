/*---
launches:
  - {kernel: norm, grid: ["ceil_div(R, 64)"], block: [64], args: [x, y, R, C]}
---*/
__global__ void norm(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0.f;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c] * x[r * cols + c];
    y[r] = sqrtf(s);
}
