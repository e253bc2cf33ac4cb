/*---
launches:
  - kernel: block_sums
    grid: [BLOCKS]
    block: [256]
    args: [x, partial, {value: N, type: uint64}]
---*/
// Brings: thread_block, tiled_partition<16>, shfl_down and sync of cooperative groups, a size_t
// scalar, partial sums that the host's epilogue adds up.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr unsigned TILE = 16;

__device__ float tile_sum(const cg::thread_block_tile<TILE>& tile, float value) {
  for (unsigned offset = tile.size() / 2; offset > 0; offset /= 2)
    value += tile.shfl_down(value, offset);
  return value;  // rank 0 has it
}

__global__ void block_sums(const float* x, float* partial, size_t n) {
  __shared__ float sums[256 / TILE];

  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<TILE> tile = cg::tiled_partition<TILE>(block);

  const size_t stride = static_cast<size_t>(gridDim.x) * block.size();
  float value = 0.0f;
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + block.thread_rank(); i < n; i += stride)
    value += x[i];

  value = tile_sum(tile, value);
  if (tile.thread_rank() == 0) sums[block.thread_rank() / TILE] = value;
  block.sync();

  if (block.thread_rank() < TILE) {
    value = tile_sum(tile, sums[tile.thread_rank()]);
    if (tile.thread_rank() == 0) partial[blockIdx.x] = value;
  }
}
