/*---
launches:
  - kernel: rms_norm
    grid: [R]
    block: [256]
    args: [x, weight, y, C, eps]
---*/
#include <hip/hip_bf16.h>

// A block a row, in two passes: the sum of squares, a tree in LDS; then normalisation.
__global__ void rms_norm(const __hip_bfloat16* x, const __hip_bfloat16* weight, __hip_bfloat16* y,
                         int C, float eps) {
    __shared__ float part[256];
    int t = threadIdx.x;
    const __hip_bfloat16* in = x + (size_t)blockIdx.x * C;
    __hip_bfloat16* out = y + (size_t)blockIdx.x * C;

    float squares = 0.0f;
    for (int c = t; c < C; c += 256) {
        float v = __bfloat162float(in[c]);
        squares += v * v;
    }
    part[t] = squares;
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (t < width) {
            part[t] += part[t + width];
        }
        __syncthreads();
    }
    float scale = 1.0f / sqrtf(part[0] / C + eps);

    for (int c = t; c < C; c += 256) {
        out[c] = __float2bfloat16(__bfloat162float(in[c]) * scale * __bfloat162float(weight[c]));
    }
}
