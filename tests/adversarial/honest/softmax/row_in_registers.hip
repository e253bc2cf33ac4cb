/*---
launches:
  - kernel: softmax_registers<2>
    when: "C <= 512"
    grid: [R]
    block: [256]
    args: [x, y, C]
  - kernel: softmax_registers<8>
    when: "C > 512 and C <= 2048"
    grid: [R]
    block: [256]
    args: [x, y, C]
  - kernel: softmax_loop
    when: "C > 2048"
    grid: [R]
    block: [256]
    args: [x, y, C]
---*/
// Short rows live in registers, read once and written once.
constexpr float LOWEST = -3.402823466e+38f;

__device__ float reduce(float v, bool largest, float* lds) {
    for (int d = WAVEFRONT / 2; d > 0; d >>= 1) {
        const float other = __shfl_down(v, d);
        v = largest ? fmaxf(v, other) : v + other;
    }
    __syncthreads();
    if (threadIdx.x % WAVEFRONT == 0) lds[threadIdx.x / WAVEFRONT] = v;
    __syncthreads();
    v = lds[0];
    for (int w = 1; w < 256 / WAVEFRONT; ++w) v = largest ? fmaxf(v, lds[w]) : v + lds[w];
    return v;
}

template <int PER_THREAD>
__global__ __launch_bounds__(256) void softmax_registers(const float* x, float* y, int C) {
    __shared__ float lds[256 / WAVEFRONT];
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    float v[PER_THREAD];
    float m = LOWEST;
#pragma unroll
    for (int j = 0; j < PER_THREAD; ++j) {
        const int i = threadIdx.x + j * 256;
        v[j] = i < C ? in[i] : LOWEST;
        m = fmaxf(m, v[j]);
    }
    m = reduce(m, true, lds);
    float s = 0.0f;
#pragma unroll
    for (int j = 0; j < PER_THREAD; ++j) {
        v[j] = threadIdx.x + j * 256 < C ? expf(v[j] - m) : 0.0f;
        s += v[j];
    }
    s = reduce(s, false, lds);
#pragma unroll
    for (int j = 0; j < PER_THREAD; ++j) {
        const int i = threadIdx.x + j * 256;
        if (i < C) out[i] = v[j] / s;
    }
}

__global__ __launch_bounds__(256) void softmax_loop(const float* x, float* y, int C) {
    __shared__ float lds[256 / WAVEFRONT];
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    float m = LOWEST;
    for (int i = threadIdx.x; i < C; i += 256) m = fmaxf(m, in[i]);
    m = reduce(m, true, lds);
    float s = 0.0f;
    for (int i = threadIdx.x; i < C; i += 256) s += expf(in[i] - m);
    s = reduce(s, false, lds);
    for (int i = threadIdx.x; i < C; i += 256) out[i] = expf(in[i] - m) / s;
}
