/*---
launches:
  - kernel: adam
    grid: ["ceil_div(N, 256)"]
    block: [256]
    args: [p, m, v, g, N, lr, beta1, beta2, eps, step]
---*/
__global__ void __launch_bounds__(256) adam(float* __restrict__ p, float* __restrict__ m, float* __restrict__ v,
                                            const float* __restrict__ g, int n, float lr, float b1, float b2, float eps, int step) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    m[i] = b1 * m[i] + (1.0f - b1) * g[i];
    v[i] = b2 * v[i] + (1.0f - b2) * g[i] * g[i];
    const float rate = lr * sqrtf(1.0f - powf(b2, step)) / (1.0f - powf(b1, step));
    p[i] -= rate * m[i] / (sqrtf(v[i]) + eps);
}
