/*---
launches:
  - kernel: softmax_ping_pong
    grid: [R]
    block: [64]
    args: [x, y, C]
---*/
// Reductions that read one half of LDS and write the other; the pointers change places.
__global__ void softmax_ping_pong(const float* x, float* y, int C) {
    __shared__ float area[2][64];
    const int t = threadIdx.x;
    const float* in = x + (size_t)blockIdx.x * C;
    float value = in[0], m = 0.0f;
    for (int round = 0; round < 2; ++round) {
        if (round == 0) {
            for (int c = t; c < C; c += 64) value = fmaxf(value, in[c]);
        } else {
            value = 0.0f;
            for (int c = t; c < C; c += 64) value += expf(in[c] - m);
        }
        float *from = area[0], *to = area[1];
        from[t] = value;
        __syncthreads();
        for (int d = 32; d > 0; d >>= 1) {
            const float other = from[t ^ d];
            to[t] = round == 0 ? fmaxf(from[t], other) : from[t] + other;
            __syncthreads();
            float* const swapped = from;
            from = to;
            to = swapped;
        }
        if (round == 0) m = from[t];
        else value = from[t];
        __syncthreads();
    }
    for (int c = t; c < C; c += 64) y[(size_t)blockIdx.x * C + c] = expf(in[c] - m) / value;
}
