/*---
launches:
  - kernel: trimul_global<product_tile>
    grid: ["ceil_div(N, 16)", "ceil_div(N, 16)"]
    block: [16, 16]
    args: [a, b, c, N, K]
---*/
// Brings: a device function as template argument of a kernel; in it a return of the block before
// barriers and one of some threads behind them; elements that don't matter.
#include <hip/hip_runtime.h>

#define TILE 16

__device__ void product_tile(const float* a, const float* b, float* c, int n, int k) {
    // blocks above the diagonal have nothing to do
    if (blockIdx.x > blockIdx.y) return;

    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE + 1];

    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;
    const int b_row = blockIdx.x * TILE + threadIdx.y;

    float sum = 0.0f;
    for (int base = 0; base < k; base += TILE) {
        const int at = base + threadIdx.x;
        as[threadIdx.y][threadIdx.x] = row < n && at < k ? a[row * k + at] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = b_row < n && at < k ? b[b_row * k + at] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) {
            sum += as[threadIdx.y][i] * bs[threadIdx.x][i];
        }
        __syncthreads();
    }

    if (row >= n || col > row) return;
    c[row * n + col] = sum;
}

template <auto tile_function>
__global__ void trimul_global(const float* a, const float* b, float* c, int n, int k) {
    tile_function(a, b, c, n, k);
}
