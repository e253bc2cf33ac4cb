/*---
launches:
  - {kernel: row_product, grid: [R], block: [128], lds_bytes: "4 * 128", args: [x, y, C]}
---*/
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ float tree(cg::thread_block group, float* scratch, float value) {
    const unsigned rank = group.thread_rank();
    scratch[rank] = value;
    for (unsigned half = group.size() / 2; half > 0; half /= 2) {
        group.sync();
        if (rank < half) scratch[rank] *= scratch[rank + half];
    }
    group.sync();
    return scratch[0];
}

__global__ void row_product(const float* x, float* y, int cols) {
    extern __shared__ float scratch[];
    cg::thread_block block = cg::this_thread_block();
    float product = 1.0f;
    for (int c = block.thread_rank(); c < cols; c += block.size())
        product *= 1.0f + x[blockIdx.x * cols + c] / 64.0f;
    product = tree(block, scratch, product);
    if (block.thread_rank() == 0) y[blockIdx.x] = product;
}
