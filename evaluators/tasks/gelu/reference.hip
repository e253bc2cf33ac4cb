/*---
launches:
  - {kernel: gelu, grid: ["ceil_div(N, 256)"], block: [256], args: [x, y, N]}
---*/
// GELU in its tanh form, in double precision: one element a thread.
__global__ void gelu(const float* x, double* y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) {
        double v = x[i];
        double inner = 0.79788456080286535588 * v * (1.0 + 0.044715 * v * v);
        y[i] = 0.5 * v * (1.0 + tanh(inner));
    }
}
