/*---
launches:
  - kernel: softmax_wave
    grid: ["ceil_div(R, ROWS)"]
    block: ["WIDE * ROWS"]
    args: [x, y, R, C]
params: {ROWS: 4, WIDE: 64}
space: {ROWS: [1, 2, 4, 8]}
---*/
// A row for each wavefront (or for the first of two, where wavefronts have 32 lanes): nothing but
// shuffles between its lanes, and whole wavefronts leave early.
__device__ __forceinline__ float wave_max(float v) {
#pragma unroll
    for (int mask = WAVEFRONT / 2; mask > 0; mask >>= 1) v = fmaxf(v, __shfl_xor(v, mask));
    return v;
}

__device__ __forceinline__ float wave_sum(float v) {
#pragma unroll
    for (int mask = WAVEFRONT / 2; mask > 0; mask >>= 1) v += __shfl_xor(v, mask);
    return v;
}

__global__ void softmax_wave(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    const int wave = threadIdx.x / WIDE;
    const int lane = threadIdx.x % WIDE;
    const int row = blockIdx.x * ROWS + wave;
    if (row >= R || lane >= WAVEFRONT) return;
    x += (size_t)row * C;
    y += (size_t)row * C;
    float m = -3.402823466e+38f;
    for (int i = lane; i < C; i += WAVEFRONT) m = fmaxf(m, x[i]);
    m = wave_max(m);
    float s = 0.0f;
    for (int i = lane; i < C; i += WAVEFRONT) {
        const float e = __expf(x[i] - m);
        y[i] = e;
        s += e;
    }
    s = 1.0f / wave_sum(s);
    for (int i = lane; i < C; i += WAVEFRONT) y[i] *= s;
}
