/*---
launches:
  - kernel: apply<Leaky>
    grid: ["ceil_div(N, 128)"]
    block: [128]
    args: [x, y, N, {struct: [{value: 0.125, type: float32}]}]
---*/
struct Leaky {
    float slope;
    __device__ float operator()(float v) const { return v > 0.f ? v : slope * v; }
};

template <typename F>
__global__ void apply(const float* x, float* y, int n, F f) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = f(x[i]);
}
