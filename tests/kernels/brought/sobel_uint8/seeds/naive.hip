/*---
launches:
  - kernel: sobel
    grid: ["ceil_div(W, 16)", "ceil_div(H, 16)"]
    block: [16, 16]
    args: [picture, edges, {value: W, type: uint32}, {value: H, type: uint32}]
---*/
// Brings: __constant__ filters of two dimensions, min of an int and an unsigned as an index,
// uint8_t tiles in LDS, abs of integers.
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdlib>

#define TILE 16

__constant__ int8_t filter_x[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
__constant__ int8_t filter_y[3][3] = {{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}};

__global__ void sobel(const uint8_t* picture, uint8_t* edges, unsigned width, unsigned height) {
    __shared__ uint8_t tile[TILE + 2][TILE + 2];
    const int x0 = blockIdx.x * TILE - 1, y0 = blockIdx.y * TILE - 1;

    for (int i = threadIdx.y * TILE + threadIdx.x; i < (TILE + 2) * (TILE + 2); i += TILE * TILE) {
        const int dx = i % (TILE + 2), dy = i / (TILE + 2);
        tile[dy][dx] = picture[min(max(y0 + dy, 0), height - 1) * width + min(max(x0 + dx, 0), width - 1)];
    }
    __syncthreads();

    const unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x >= width || y >= height) return;

    int gx = 0, gy = 0;
#pragma unroll
    for (int i = 0; i < 3; i++) {
#pragma unroll
        for (int j = 0; j < 3; j++) {
            const int pixel = tile[threadIdx.y + i][threadIdx.x + j];
            gx += filter_x[i][j] * pixel;
            gy += filter_y[i][j] * pixel;
        }
    }
    edges[y * width + x] = (uint8_t)min(abs(gx) + abs(gy), 255);
}
