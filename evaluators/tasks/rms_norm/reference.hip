/*---
launches:
  - kernel: rms_norm
    grid: [R]
    block: [256]
    args: [x, weight, y, C, {value: eps, type: float64}]
---*/
#include <hip/hip_bf16.h>
// Root-mean-square normalisation in double precision: a block for each row.
__global__ void rms_norm(const __hip_bfloat16* x, const __hip_bfloat16* weight, double* y, int C,
                         double eps) {
    __shared__ double part[256];
    const __hip_bfloat16* from = x + (size_t)blockIdx.x * C;
    double* to = y + (size_t)blockIdx.x * C;
    double squares = 0;
    for (int c = threadIdx.x; c < C; c += 256) {
        double v = __bfloat162float(from[c]);
        squares += v * v;
    }
    part[threadIdx.x] = squares;
    for (int width = 128; width > 0; width /= 2) {
        __syncthreads();
        if (threadIdx.x < width) part[threadIdx.x] += part[threadIdx.x + width];
    }
    __syncthreads();
    double root = sqrt(part[0] / C + eps);
    for (int c = threadIdx.x; c < C; c += 256)
        to[c] = (double)__bfloat162float(from[c]) / root * (double)__bfloat162float(weight[c]);
}
