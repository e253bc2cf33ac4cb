/*---
launches:
  - kernel: softmax_lazy
    grid: [R]
    block: [64]
    args: [x, y, C]
---*/
// One wavefront-wide running maximum; sums are rescaled only when a vote finds a larger element.
__global__ void softmax_lazy(const float* __restrict__ x, float* __restrict__ y, int C) {
    __shared__ float most_of[64 / WAVEFRONT];
    __shared__ float sum_of[64 / WAVEFRONT];
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    float most = -3.402823466e+38f;
    float sum = 0.0f;
    for (int first = 0; first < C; first += 64) {
        const int c = first + threadIdx.x;
        const float v = c < C ? in[c] : -3.402823466e+38f;
        if (__any(v > most)) {
            float next = fmaxf(most, v);
            for (int d = WAVEFRONT / 2; d > 0; d >>= 1) next = fmaxf(next, __shfl_xor(next, d));
            sum *= expf(most - next);
            most = next;
        }
        sum += c < C ? expf(v - most) : 0.0f;
    }
    for (int d = WAVEFRONT / 2; d > 0; d >>= 1) sum += __shfl_xor(sum, d);
    if (threadIdx.x % WAVEFRONT == 0) {
        most_of[threadIdx.x / WAVEFRONT] = most;
        sum_of[threadIdx.x / WAVEFRONT] = sum;
    }
    __syncthreads();
    float m = most_of[0];
    for (int w = 1; w < 64 / WAVEFRONT; ++w) m = fmaxf(m, most_of[w]);
    float total = 0.0f;
    for (int w = 0; w < 64 / WAVEFRONT; ++w) total += sum_of[w] * expf(most_of[w] - m);
    for (int c = threadIdx.x; c < C; c += 64) out[c] = expf(in[c] - m) / total;
}
