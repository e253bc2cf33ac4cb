/*---
scratch: {row: "8 * R"}
launches:
  - kernel: softmax
    grid: [R, "ceil_div(C, 64)"]
    block: [64]
    args: [x, y, row, R, C]
---*/
// The first thread of a row leaves its largest element and sum for all others, without waiting.
__global__ void softmax(const float* x, float* y, float* row, int R, int C) {
    int r = blockIdx.x, c = blockIdx.y * 64 + threadIdx.x;
    if (c >= C) return;
    if (c == 0) {
        float largest = x[r * C], sum = 0.0f;
        for (int k = 1; k < C; ++k) largest = fmaxf(largest, x[r * C + k]);
        for (int k = 0; k < C; ++k) sum += expf(x[r * C + k] - largest);
        row[2 * r] = largest;
        row[2 * r + 1] = sum;
    }
    y[r * C + c] = expf(x[r * C + c] - row[2 * r]) / row[2 * r + 1];
}
