/*---
launches:
  - kernel: softmax_2d<WIDTH, ROWS>
    grid: ["ceil_div(R, ROWS)"]
    block: [WIDTH, ROWS]
    args: [x, y, R, C]
params: {WIDTH: 32, ROWS: 8}
space: {WIDTH: [16, 32], ROWS: [4, 8, 16]}
constraints: ["WIDTH * ROWS >= 64"]
---*/
// Rows of WIDTH threads, within a wavefront: shuffles of that width.
template <typename T, int W, typename Op>
__device__ T across(T v, Op op) {
    for (int mask = W / 2; mask > 0; mask /= 2) {
        const T other = __shfl_xor(v, mask, W);
        v = op(v, other);
    }
    return v;
}

struct Larger {
    __device__ float operator()(float p, float q) const { return fmaxf(p, q); }
};
struct Plus {
    __device__ float operator()(float p, float q) const { return p + q; }
};

template <int W, int H>
__global__ void softmax_2d(const float* x, float* y, int R, int C) {
    static_assert(W <= 32, "a row of threads lies within a wavefront of every device");
    const int row = blockIdx.x * H + threadIdx.y;
    const int size = row < R ? C : 0;
    const float* in = x + (size_t)row * C;
    float* out = y + (size_t)row * C;
    float m = -3.402823466e+38f;
    for (int c = threadIdx.x; c < size; c += W) m = fmaxf(m, in[c]);
    m = across<float, W, Larger>(m, Larger());
    float s = 0.0f;
    for (int c = threadIdx.x; c < size; c += W) s += expf(in[c] - m);
    s = across<float, W, Plus>(s, Plus());
    for (int c = threadIdx.x; c < size; c += W) out[c] = expf(in[c] - m) / s;
}
