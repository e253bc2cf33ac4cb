/*---
launches:
  - kernel: ragged_mean
    grid: ["ROWS + 2"]
    block: [128]
    args: [x, draws, mean, ROWS, COLS]
---*/
#include <hip/hip_runtime.h>

__global__ void ragged_mean(const float* x, const int* draws, float* mean, int rows, int cols)
{
    const int row = blockIdx.x;
    if (row >= rows) {
        return;                       // the grid is a little too large: whole blocks leave
    }

    const int draw = draws[row];
    if (draw < 300) {                 // empty: the same for all threads of the block
        if (threadIdx.x == 0) {
            mean[row] = 0.0f;
        }
        return;
    }
    const int length = draw % cols + 1;

    __shared__ float sums[128];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < length; i += 128) {
        sum += x[row * cols + i];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();

    if (length <= 128) {
        // one element each at most: only as deep a tree as needed
        int span = 1;
        while (span < length) span *= 2;
        for (int s = span / 2; s > 0; s /= 2) {
            if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
            __syncthreads();
        }
    } else {
        if (threadIdx.x < 64) sums[threadIdx.x] += sums[threadIdx.x + 64];
        __syncthreads();
        if (threadIdx.x < 32) sums[threadIdx.x] += sums[threadIdx.x + 32];
        __syncthreads();
        if (threadIdx.x < 16) sums[threadIdx.x] += sums[threadIdx.x + 16];
        __syncthreads();
        if (threadIdx.x < 8) sums[threadIdx.x] += sums[threadIdx.x + 8];
        __syncthreads();
        if (threadIdx.x < 4) sums[threadIdx.x] += sums[threadIdx.x + 4];
        __syncthreads();
        if (threadIdx.x < 2) sums[threadIdx.x] += sums[threadIdx.x + 2];
        __syncthreads();
        if (threadIdx.x < 1) sums[threadIdx.x] += sums[threadIdx.x + 1];
        __syncthreads();
    }

    if (threadIdx.x == 0) {
        mean[row] = sums[0] / length;
    }
}
