/*---
launches:
  - kernel: numerators
    grid: [R]
    block: [256]
    args: [x, y, inverse, C]
  - kernel: scale_rows
    grid: [R, "ceil_div(C, 256)"]
    block: [256]
    args: [y, inverse, C]
scratch: {inverse: "4 * R"}
---*/
// Numerators are written once and scaled by a second launch; the sum of a row is pairwise.
__device__ float pairwise(const float* values, int stride, int count) {
    float level[20];
    int depth = 0;
    for (int i = 0; i < count; ++i) {
        float v = values[(size_t)i * stride];
        int n = i + 1;
        while ((n & 1) == 0) {
            v = level[--depth] + v;
            n >>= 1;
        }
        level[depth++] = v;
    }
    float sum = 0.0f;
    while (depth > 0) sum += level[--depth];
    return sum;
}

__global__ void numerators(const float* x, float* y, float* inverse, int C) {
    __shared__ float part[256];
    const int t = threadIdx.x;
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    float m = in[0];
    for (int c = t; c < C; c += 256) m = fmaxf(m, in[c]);
    part[t] = m;
    __syncthreads();
    for (int n = 128; n > 0; n /= 2) {
        if (t < n) part[t] = fmaxf(part[t], part[t + n]);
        __syncthreads();
    }
    m = part[0];
    __syncthreads();
    for (int c = t; c < C; c += 256) out[c] = expf(in[c] - m);
    part[t] = t < C ? pairwise(out + t, 256, (C - t + 255) / 256) : 0.0f;
    __syncthreads();
    for (int n = 128; n > 0; n /= 2) {
        if (t < n) part[t] += part[t + n];
        __syncthreads();
    }
    if (t == 0) inverse[blockIdx.x] = __frcp_rn(part[0]);
}

__global__ void scale_rows(float* y, const float* inverse, int C) {
    const int c = blockIdx.y * 256 + threadIdx.x;
    if (c < C) y[(size_t)blockIdx.x * C + c] *= inverse[blockIdx.x];
}
