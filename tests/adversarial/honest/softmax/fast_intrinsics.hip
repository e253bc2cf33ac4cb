/*---
launches:
  - kernel: softmax_fast
    grid: ["ceil_div(R, 2)"]
    block: [128, 2]
    args: [x, y, R, C]
options: ["-ffast-math"]
---*/
// __expf and __fdividef, under -ffast-math.
__global__ void softmax_fast(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    __shared__ float red[2][128];
    const int t = threadIdx.x, w = threadIdx.y;
    const int row = blockIdx.x * 2 + w;
    const bool live = row < R;
    const float* in = x + (size_t)(live ? row : 0) * C;
    float m = in[0];
    for (int i = t; i < C; i += 128) m = fmaxf(m, in[i]);
    red[w][t] = m;
    __syncthreads();
    for (int s = 64; s >= 1; s >>= 1) {
        if (t < s) red[w][t] = fmaxf(red[w][t], red[w][t + s]);
        __syncthreads();
    }
    m = red[w][0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < C; i += 128) sum += __expf(in[i] - m);
    red[w][t] = sum;
    __syncthreads();
    for (int s = 64; s >= 1; s >>= 1) {
        if (t < s) red[w][t] += red[w][t + s];
        __syncthreads();
    }
    sum = red[w][0];
    if (live) {
        float* out = y + (size_t)row * C;
        for (int i = t; i < C; i += 128) out[i] = __fdividef(__expf(in[i] - m), sum);
    }
}
