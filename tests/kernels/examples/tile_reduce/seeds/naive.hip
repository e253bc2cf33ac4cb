/*---
launches:
  - {kernel: sum_of_squares, grid: ["ceil_div(R, 8)"], block: [256], args: [x, y, R, C]}
---*/
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void sum_of_squares(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
    if (row >= rows) return;
    float sum = 0.0f;
    for (int c = tile.thread_rank(); c < cols; c += tile.size()) {
        float v = x[row * cols + c];
        sum += v * v;
    }
    sum = cg::reduce(tile, sum, cg::plus<float>{});
    if (tile.thread_rank() == 0) y[row] = sum;
}
