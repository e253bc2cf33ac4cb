/*---
launches:
  - kernel: conv2d
    grid:
      - "ceil_div(((H + 2 * padding - R) // stride + 1) * ((W + 2 * padding - S) // stride + 1), 256)"
      - K
      - N
    block: [256]
    args:
      - x
      - w
      - y
      - C
      - H
      - W
      - K
      - R
      - S
      - {value: "(H + 2 * padding - R) // stride + 1", type: int32}
      - {value: "(W + 2 * padding - S) // stride + 1", type: int32}
      - stride
      - padding
---*/
// The convolution in double precision: one output a thread.
__global__ void conv2d(const float* x, const float* w, double* y, int C, int H, int W, int K, int R,
                       int S, int P, int Q, int stride, int padding) {
    int pixel = blockIdx.x * 256 + threadIdx.x, k = blockIdx.y, n = blockIdx.z;
    if (pixel >= P * Q) return;
    int top = pixel / Q * stride - padding, left = pixel % Q * stride - padding;
    double sum = 0;
    for (int c = 0; c < C; ++c)
        for (int r = max(0, -top); r < min(R, H - top); ++r)
            for (int s = max(0, -left); s < min(S, W - left); ++s)
                sum += (double)x[(((size_t)n * C + c) * H + top + r) * W + left + s] *
                       w[(((size_t)k * C + c) * R + r) * S + s];
    y[((size_t)n * K + k) * P * Q + pixel] = sum;
}
