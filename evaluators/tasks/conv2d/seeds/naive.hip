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
// One output a thread; neighbouring threads have neighbouring outputs of one channel.
__global__ void conv2d(const float* x, const float* w, float* y, int C, int H, int W, int K, int R,
                       int S, int P, int Q, int stride, int padding) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    int k = blockIdx.y;
    int n = blockIdx.z;
    if (pixel < P * Q) {
        int p = pixel / Q;
        int q = pixel % Q;
        float sum = 0.0f;
        for (int c = 0; c < C; ++c) {
            for (int r = 0; r < R; ++r) {
                for (int s = 0; s < S; ++s) {
                    int row = p * stride + r - padding;
                    int col = q * stride + s - padding;
                    if (row >= 0 && row < H && col >= 0 && col < W) {
                        sum += x[(((size_t)n * C + c) * H + row) * W + col] *
                               w[(((size_t)k * C + c) * R + r) * S + s];
                    }
                }
            }
        }
        y[((size_t)n * K + k) * P * Q + pixel] = sum;
    }
}
