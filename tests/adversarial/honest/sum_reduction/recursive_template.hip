/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: recursive_sum<256>
    grid: ["min(ceil_div(N, 2048), 256)"]
    block: [256]
    args: [x, out, N]
---*/
// Steps of the tree by a template that calls itself.
template <int N>
__device__ __forceinline__ void fold(float* lds) {
    if (threadIdx.x < N) lds[threadIdx.x] += lds[threadIdx.x + N];
    __syncthreads();
    if constexpr (N > 1) fold<N / 2>(lds);
}

template <int THREADS>
__global__ void recursive_sum(const float* x, float* out, int n) {
    __shared__ float lds[THREADS];
    float v = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) v += x[i];
    lds[threadIdx.x] = v;
    __syncthreads();
    fold<THREADS / 2>(lds);
    if (threadIdx.x == 0) atomicAdd(out, lds[0]);
}
