/*---
launches:
  - {kernel: "pointwise<softsign>", grid: ["ceil_div(N, 256)"], block: [256], args: [x, y, N]}
---*/
__device__ float softsign(float v) { return v / (1.0f + fabsf(v)); }

template <float (*f)(float)>
__global__ void pointwise(const float* __restrict__ x, float* __restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = f(x[i]);
}
