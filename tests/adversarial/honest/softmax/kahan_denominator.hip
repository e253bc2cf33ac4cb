/*---
launches:
  - kernel: softmax_compensated
    grid: ["ceil_div(R, 64)"]
    block: [64]
    args: [x, y, R, C]
options: ["-fno-fast-math", "-ffp-contract=off"]
---*/
// The denominator with Kahan's correction.
__device__ void kahan_add(float& sum, float& lost, float term) {
    const float corrected = term - lost;
    const float next = sum + corrected;
    lost = (next - sum) - corrected;
    sum = next;
}

__device__ float row_maximum(const float* row, int count) {
    float best = row[0];
    while (--count > 0) best = fmaxf(best, row[count]);
    return best;
}

__global__ void softmax_compensated(const float* x, float* y, int R, int C) {
    const int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row >= R) return;
    const float* in = x + (size_t)C * row;
    float* out = y + (size_t)C * row;
    const float m = row_maximum(in, C);
    float sum = 0.0f, lost = 0.0f;
    for (int c = 0; c < C; ++c) {
        out[c] = expf(in[c] - m);
        kahan_add(sum, lost, out[c]);
    }
    for (int c = 0; c < C; ++c) out[c] /= sum;
}
