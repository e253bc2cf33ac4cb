/*---
launches:
  - kernel: rope
    grid: [S, B]
    block: [256]
    args: [x, cos, sin, y, H, D]
---*/
#include <hip/hip_bf16.h>

// A block a position; its threads go over the pairs of all heads.
__global__ void rope(const __hip_bfloat16* x, const float* cosine, const float* sine,
                     __hip_bfloat16* y, int H, int D) {
    int half = D / 2;
    size_t start = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * H * D;
    for (int i = threadIdx.x; i < H * half; i += blockDim.x) {
        int head = i / half, d = i % half;
        float c = cosine[blockIdx.x * half + d];
        float s = sine[blockIdx.x * half + d];
        size_t at = start + head * D + d;
        float first = __bfloat162float(x[at]);
        float second = __bfloat162float(x[at + half]);
        y[at] = __float2bfloat16(first * c - second * s);
        y[at + half] = __float2bfloat16(second * c + first * s);
    }
}
