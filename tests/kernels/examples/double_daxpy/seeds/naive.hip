/*---
launches:
  - {kernel: daxpy, grid: ["ceil_div(N, 256)"], block: [256], args: [N, {value: alpha, type: float64}, x, y]}
---*/
__global__ void daxpy(int n, double alpha, const double* x, double* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] + y[i];
}
