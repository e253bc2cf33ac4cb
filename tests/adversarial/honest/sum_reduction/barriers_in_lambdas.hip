/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: sum_lambda
    grid: ["min(ceil_div(N, 2048), 240)"]
    block: [256]
    args: [x, out, N]
---*/
// Steps of the tree are a lambda that ends with a barrier.
template <int FROM, typename Step>
__device__ void halving(Step step) {
    if constexpr (FROM > 0) {
        step(FROM);
        halving<FROM / 2>(step);
    }
}

__global__ void sum_lambda(const float* x, float* out, int n) {
    __shared__ float lds[256];
    float v = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) v += x[i];
    lds[threadIdx.x] = v;
    __syncthreads();
    halving<128>([&](int d) {
        if (threadIdx.x < d) lds[threadIdx.x] += lds[threadIdx.x + d];
        __syncthreads();
    });
    if (threadIdx.x == 0) atomicAdd(out, lds[0]);
}
