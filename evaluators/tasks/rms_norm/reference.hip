/*---
launches:
  - {kernel: rms_norm, grid: [R], block: [256], args: [x, weight, y, C]}
---*/
#include <hip/hip_bf16.h>
// Root-mean-square normalisation in double precision: a block for each row.
__global__ void rms_norm(const __hip_bfloat16* x, const __hip_bfloat16* weight, double* y, int C) {
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
    double root = sqrt(part[0] / C + 1e-5);
    for (int c = threadIdx.x; c < C; c += 256)
        to[c] = (double)__bfloat162float(from[c]) / root * (double)__bfloat162float(weight[c]);
}
