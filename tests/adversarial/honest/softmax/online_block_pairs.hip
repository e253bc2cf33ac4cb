/*---
launches:
  - kernel: softmax_online_block
    grid: [R]
    block: [256]
    args: [x, y, C]
---*/
// Pairs of largest element and sum, which one operator joins: by shuffles, then through LDS.
struct __align__(8) MD {
    float m;
    float d;
};

__device__ __forceinline__ MD operator+(const MD& a, const MD& b) {
    const bool a_larger = a.m > b.m;
    const MD larger = a_larger ? a : b;
    const MD smaller = a_larger ? b : a;
    MD joined;
    joined.m = larger.m;
    joined.d = larger.d + smaller.d * expf(smaller.m - larger.m);
    return joined;
}

__global__ __launch_bounds__(256) void softmax_online_block(const float* __restrict__ x,
                                                            float* __restrict__ y, int C) {
    __shared__ MD of_wave[256 / WAVEFRONT];
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    MD mine = {-3.402823466e+38f, 0.0f};
    for (int i = threadIdx.x; i < C; i += 256) {
        const MD next = {in[i], 1.0f};
        mine = mine + next;
    }
    for (int offset = WAVEFRONT / 2; offset >= 1; offset /= 2) {
        MD other;
        other.m = __shfl_xor(mine.m, offset);
        other.d = __shfl_xor(mine.d, offset);
        mine = mine + other;
    }
    if (threadIdx.x % WAVEFRONT == 0) of_wave[threadIdx.x / WAVEFRONT] = mine;
    __syncthreads();
    MD total = of_wave[0];
    for (int w = 1; w < 256 / WAVEFRONT; ++w) total = total + of_wave[w];
    for (int i = threadIdx.x; i < C; i += 256) out[i] = expf(in[i] - total.m) / total.d;
}
