/*---
launches:
  - {kernel: ragged_mean, grid: ["ceil_div(D, 64)", B], block: [64], args: [x, lengths, y, T, D]}
---*/
__global__ void ragged_mean(const float* x, const int* lengths, float* y, int steps, int width) {
    const int d = blockIdx.x * blockDim.x + threadIdx.x;
    const int b = blockIdx.y;
    if (d >= width) return;
    const int length = lengths[b];
    float sum = 0.0f;
    for (int t = 0; t < length; ++t) sum += x[((size_t)b * steps + t) * width + d];
    y[b * width + d] = length > 0 ? sum / length : 0.0f;
}
