/*---
launches:
  - kernel: softmax_functors<128>
    grid: [R]
    block: [128]
    args: [x, y, {value: "C", type: int64}]
---*/
// One block reduction for any operator, in the manner of CUB: a class with its storage.
struct MaxOp {
    static constexpr float identity = -3.402823466e+38f;
    __device__ static float apply(float a, float b) { return a < b ? b : a; }
};

struct SumOp {
    static constexpr float identity = 0.0f;
    __device__ static float apply(float a, float b) { return a + b; }
};

template <typename Op, int THREADS>
__device__ float block_reduce(float value, float (&storage)[THREADS]) {
    const int t = threadIdx.x;
    __syncthreads();
    storage[t] = value;
    __syncthreads();
#pragma unroll
    for (int width = THREADS / 2; width > 0; width /= 2) {
        if (t < width) storage[t] = Op::apply(storage[t], storage[t + width]);
        __syncthreads();
    }
    return storage[0];
}

template <int THREADS>
__global__ void softmax_functors(const float* x, float* y, long long C) {
    __shared__ float storage[THREADS];
    const float* row = x + blockIdx.x * C;
    float local = MaxOp::identity;
    for (long long c = threadIdx.x; c < C; c += THREADS) local = MaxOp::apply(local, row[c]);
    const float m = block_reduce<MaxOp, THREADS>(local, storage);
    local = SumOp::identity;
    for (long long c = threadIdx.x; c < C; c += THREADS) local += expf(row[c] - m);
    const float s = block_reduce<SumOp, THREADS>(local, storage);
    for (long long c = threadIdx.x; c < C; c += THREADS) y[blockIdx.x * C + c] = expf(row[c] - m) / s;
}
