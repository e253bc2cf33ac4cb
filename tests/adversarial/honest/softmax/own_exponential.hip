/*---
launches:
  - kernel: softmax_poly
    grid: ["ceil_div(R, 32)"]
    block: [32]
    args: [x, y, R, C]
---*/
// Reduction by Cody and Waite, a polynomial, and the exponent put in by its bits.
union FloatBits {
    float f;
    int i;
};

__device__ float exp_of(float v) {
    v = v < -87.0f ? -87.0f : v;
    const float n = rintf(v * 1.44269504088896341f);
    const float r = fmaf(n, 2.12194440e-4f, fmaf(n, -0.693359375f, v));
    float p = 1.9875691500e-4f;
    p = fmaf(p, r, 1.3981999507e-3f);
    p = fmaf(p, r, 8.3334519073e-3f);
    p = fmaf(p, r, 4.1665795894e-2f);
    p = fmaf(p, r, 1.6666665459e-1f);
    p = fmaf(p, r, 5.0000001201e-1f);
    p = fmaf(p, r * r, r) + 1.0f;
    FloatBits scale;
    scale.i = ((int)n + 127) << 23;
    return p * scale.f;
}

__global__ void softmax_poly(const float* x, float* y, int R, int C) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < R) {
        const size_t at = (size_t)row * C;
        float m = x[at];
        for (int c = 1; c < C; ++c) m = fmaxf(m, x[at + c]);
        float s = 0.0f;
        for (int c = 0; c < C; ++c) s += exp_of(x[at + c] - m);
        for (int c = 0; c < C; ++c) y[at + c] = exp_of(x[at + c] - m) / s;
    }
}
