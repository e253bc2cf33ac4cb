/*---
launches:
  - kernel: online_softmax
    grid: ["ceil_div(R, 128)"]
    block: [128]
    args: [x, y, R, C]
---*/
// Online normaliser, one row a thread: the sum is corrected when a larger element turns up.
__global__ void online_softmax(const float* x, float* y, int R, int C) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= R) return;
    const float* in = x + (size_t)row * C;
    float* out = y + (size_t)row * C;
    float m = -3.402823466e+38f;
    float d = 0.0f;
    for (int i = 0; i < C; i++) {
        const float v = in[i];
        if (v > m) {
            d = d * expf(m - v) + 1.0f;
            m = v;
        } else {
            d += expf(v - m);
        }
    }
    const float inv = 1.0f / d;
    for (int i = 0; i < C; i++) out[i] = expf(in[i] - m) * inv;
}
