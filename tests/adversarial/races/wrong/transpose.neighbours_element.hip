/*---
launches:
  - kernel: transpose
    grid: ["ceil_div(R * C, 128)"]
    block: [128]
    args: [x, y, R, C]
---*/
// Two threads write every element: the right value wins only where threads run in their order.
__global__ void transpose(const float* x, float* y, int R, int C) {
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i + 1 < R * C) y[i + 1] = 0.0f;
    if (i < R * C) y[i] = x[(i % R) * C + i / R];
}
