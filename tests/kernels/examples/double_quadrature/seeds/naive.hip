/*---
launches:
  - {memset: {buffer: total, byte: 0}}
  - kernel: quadrature
    grid: ["min(64, ceil_div(N, 128))"]
    block: [128]
    args: [w, total, N, {value: "1 / N", type: float64}, {value: 0.5, type: float64}]
---*/
#include <cmath>

__global__ void quadrature(const double* w, double* total, int n, double step, double shift) {
    double sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const double t = (i + shift) * step;
        sum += w[i] * 4.0 / (1.0 + t * t);
    }
    atomicAdd(total, sum * step / M_PI);
}
