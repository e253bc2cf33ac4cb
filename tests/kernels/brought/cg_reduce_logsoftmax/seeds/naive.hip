/*---
launches:
  - kernel: log_softmax_forward
    grid: ["ceil_div(R, 128 // 32)"]
    block: [128]
    args: [out, inp, R, C]
---*/
// Brings: cg::reduce with cg::plus and cg::greater, meta_group_size, a return of whole tiles.
#include <hip/hip_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cfloat>

__global__ void log_softmax_forward(float* out, const float* inp, int rows, int cols) {
    namespace cg = cooperative_groups;
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= rows) {
        return;
    }
    const float* x = inp + (long long)row * cols;

    float highest = -FLT_MAX;
    for (int i = warp.thread_rank(); i < cols; i += warp.size()) {
        highest = fmaxf(highest, x[i]);
    }
    highest = cg::reduce(warp, highest, cg::greater<float>{});

    float total = 0.0f;
    for (int i = warp.thread_rank(); i < cols; i += warp.size()) {
        total += expf(x[i] - highest);
    }
    total = cg::reduce(warp, total, cg::plus<float>{});

    const float shift = highest + logf(total);
    for (int i = warp.thread_rank(); i < cols; i += warp.size()) {
        out[(long long)row * cols + i] = x[i] - shift;
    }
}
