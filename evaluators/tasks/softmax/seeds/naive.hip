/*---
launches:
  - kernel: softmax
    grid: ["ceil_div(R, 64)"]
    block: [64]
    args: [x, y, R, C]
---*/
// One row a thread, in three passes: largest element, exponentials and their sum, division.
__global__ void softmax(const float* x, float* y, int R, int C) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < R) {
        const float* in = x + (size_t)row * C;
        float* out = y + (size_t)row * C;
        float largest = in[0];
        for (int c = 1; c < C; ++c) {
            largest = fmaxf(largest, in[c]);
        }
        float sum = 0.0f;
        for (int c = 0; c < C; ++c) {
            float e = expf(in[c] - largest);
            out[c] = e;
            sum += e;
        }
        for (int c = 0; c < C; ++c) {
            out[c] = out[c] / sum;
        }
    }
}
