/*---
scratch: {kept: "4 * C"}
launches:
  - {kernel: softmax, grid: [R], block: [1], args: [x, y, kept, C]}
---*/
// Every block keeps its row's exponentials in the same scratch.
__global__ void softmax(const float* x, float* y, float* kept, int C) {
    const float* row = x + blockIdx.x * C;
    float largest = row[0], sum = 0.0f;
    for (int c = 1; c < C; ++c) largest = fmaxf(largest, row[c]);
    for (int c = 0; c < C; ++c) sum += kept[c] = expf(row[c] - largest);
    for (int c = 0; c < C; ++c) y[blockIdx.x * C + c] = kept[c] / sum;
}
