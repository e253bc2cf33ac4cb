/*---
launches:
  - {kernel: bias_relu, grid: [R], block: [128], args: [x, bias, y, C]}
---*/
__global__ void bias_relu(const float* x, const float* bias, float* y, int cols) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float v = x[blockIdx.x * cols + c];
        if (bias != NULL) v += bias[c];
        y[blockIdx.x * cols + c] = v > 0.0f ? v : 0.0f;
    }
}
