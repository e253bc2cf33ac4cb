/*---
launches:
  - kernel: convolution_2D_tiled
    grid: ["ceil_div(W, TILE_W)", "ceil_div(H, TILE_H)", B]
    block: [TILE_W, TILE_H, 1]
    args: [images, filters, result, H, W]
params: {TILE_W: 16, TILE_H: 8}
space: {TILE_W: [8, 16, 32], TILE_H: [4, 8]}
---*/
#include <hip/hip_runtime.h>

#define MASK_DIM 5
#define HALF (MASK_DIM / 2)
#define IN_W (TILE_W + MASK_DIM - 1)
#define IN_H (TILE_H + MASK_DIM - 1)
#define IDX3(b, y, x, h, w) ((((b) * (h)) + (y)) * (w) + (x))

__global__ void convolution_2D_tiled(const float *__restrict__ images,
                                     const float *__restrict__ filters,
                                     float *__restrict__ result,
                                     int height, int width)
{
    __shared__ float N_ds[IN_H][IN_W];
    __shared__ float mask[MASK_DIM * MASK_DIM];

    const int image   = blockIdx.z;
    const int tid     = threadIdx.y * TILE_W + threadIdx.x;
    const int threads = TILE_W * TILE_H;

    for (int i = tid; i < MASK_DIM * MASK_DIM; i += threads)
        mask[i] = filters[image * MASK_DIM * MASK_DIM + i];

    // the tile with its halo has more elements than the block has threads
    for (int i = tid; i < IN_W * IN_H; i += threads) {
        const int dy = i / IN_W, dx = i % IN_W;
        const int y  = (int)blockIdx.y * TILE_H + dy - HALF;
        const int x  = (int)blockIdx.x * TILE_W + dx - HALF;
        const bool inside = y >= 0 && y < height && x >= 0 && x < width;
        N_ds[dy][dx] = inside ? images[IDX3(image, y, x, height, width)] : 0.0f;
    }
    __syncthreads();

    const int row = blockIdx.y * TILE_H + threadIdx.y;
    const int col = blockIdx.x * TILE_W + threadIdx.x;
    if (row >= height || col >= width) return;

    float acc = 0.0f;
    for (int r = 0; r < MASK_DIM; ++r)
        for (int c = 0; c < MASK_DIM; ++c)
            acc += mask[r * MASK_DIM + c] * N_ds[threadIdx.y + r][threadIdx.x + c];
    result[IDX3(image, row, col, height, width)] = acc;
}
