/*---
launches:
  - kernel: transpose_no_bank_conflicts
    grid: ["ceil_div(W, 32)", "ceil_div(H, 32)"]
    block: [32, 8]
    args: [src, dst, W, H]
---*/
#include <hip/hip_runtime.h>

constexpr int kTileDim   = 32;
constexpr int kBlockRows = 8;

__global__ void transpose_no_bank_conflicts(const float* in, float* out, int width, int height)
{
    // one column of padding: a column of the tile then lies in different banks
    __shared__ float tile[kTileDim][kTileDim + 1];

    int x = blockIdx.x * kTileDim + threadIdx.x;
    int y = blockIdx.y * kTileDim + threadIdx.y;

    for (int j = 0; j < kTileDim; j += kBlockRows) {
        if (x < width && y + j < height) {
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
        }
    }

    __syncthreads();

    x = blockIdx.y * kTileDim + threadIdx.x;  // block offsets swapped
    y = blockIdx.x * kTileDim + threadIdx.y;

    for (int j = 0; j < kTileDim; j += kBlockRows) {
        if (x < height && y + j < width) {
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
        }
    }
}
