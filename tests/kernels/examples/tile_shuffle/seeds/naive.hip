/*---
launches:
  - {kernel: centre, grid: ["ceil_div(R, 4)"], block: [64], args: [x, y, R, C]}
---*/
#include <hip/hip_cooperative_groups.h>
using namespace cooperative_groups;

__global__ void centre(const float* x, float* y, int rows, int cols) {
    auto tile = tiled_partition<16>(this_thread_block());
    const int row = blockIdx.x * 4 + threadIdx.x / 16;
    if (row >= rows) return;
    float sum = 0.f;
    for (int c = tile.thread_rank(); c < cols; c += 16) sum += x[row * cols + c];
    for (int offset = tile.size() / 2; offset > 0; offset /= 2) sum += tile.shfl_down(sum, offset);
    const float mean = tile.shfl(sum, 0) / cols;
    for (int c = tile.thread_rank(); c < cols; c += 16) y[row * cols + c] = x[row * cols + c] - mean;
}
