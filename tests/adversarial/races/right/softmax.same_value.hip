/*---
scratch: {row: "8 * R", spare: 256}
launches:
  - kernel: rows
    grid: [R, "ceil_div(C, 64)"]
    block: [64]
    args: [x, row, spare, R, C]
  - kernel: softmax
    grid: [R, "ceil_div(C, 64)"]
    block: [64]
    args: [x, y, row, R, C]
---*/
// Every thread of a row writes the same largest element and sum; idle ones write where none reads.
__global__ void rows(const float* x, float* row, float* spare, int R, int C) {
    int r = blockIdx.x, c = blockIdx.y * 64 + threadIdx.x;
    float largest = x[r * C], sum = 0.0f;
    for (int k = 1; k < C; ++k) largest = fmaxf(largest, x[r * C + k]);
    for (int k = 0; k < C; ++k) sum += expf(x[r * C + k] - largest);
    float* to = c < C ? row + 2 * r : spare;
    to[0] = largest + (c < C ? 0.0f : (float)c);
    to[1] = sum;
}
__global__ void softmax(const float* x, float* y, const float* row, int R, int C) {
    int r = blockIdx.x, c = blockIdx.y * 64 + threadIdx.x;
    if (c < C) y[r * C + c] = expf(x[r * C + c] - row[2 * r]) / row[2 * r + 1];
}
