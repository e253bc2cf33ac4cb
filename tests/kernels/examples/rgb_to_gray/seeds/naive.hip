/*---
launches:
  - {kernel: luma, grid: ["ceil_div(W, 16)", "ceil_div(H, 16)"], block: [16, 16], args: [rgb, gray, H, W]}
---*/
#include <stdint.h>

__global__ void luma(const uint8_t* __restrict__ rgb, uint8_t* __restrict__ gray, int height, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const uint8_t* p = rgb + 3 * (y * width + x);
    gray[y * width + x] = static_cast<uint8_t>((77u * p[0] + 150u * p[1] + 29u * p[2]) >> 8);
}
