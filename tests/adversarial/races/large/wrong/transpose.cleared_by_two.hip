/*---
launches:
  - kernel: transpose
    grid: ["ceil_div(C, 16)", "ceil_div(R, 16)"]
    block: [16, 16]
    args: [x, y, R, C]
---*/
// A thread clears its own place and the next one, whose thread clears it once more: last of all?
__global__ void transpose(const float* x, float* y, int R, int C) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= R || col >= C) return;
    volatile float* to = y + col * R + row;
    to[0] = 0.0f;
    if (R > 700 && row + 1 < R) to[1] = 0.0f;
    to[0] = x[row * C + col];
}
