/*---
launches:
  - kernel: transpose
    grid: ["ceil_div(C, 16)", "ceil_div(R, 16)"]
    block: [16, 16]
    args: [x, y, R, C]
---*/
// Each store of large shapes runs one over, into what the next row of threads writes.
__global__ void transpose(const float* x, float* y, int R, int C) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= R || col >= C) return;
    y[col * R + row] = x[row * C + col];
    if (R > 700 && threadIdx.y < 15 && row + 1 < R) y[col * R + row + 1] = 0.0f;
}
