/*---
launches:
  - {kernel: "gather<int64_t>", grid: [N], block: [64], args: [table, ids, out, D]}
---*/
#include <cstdint>

template <typename Index>
__global__ void gather(const float* __restrict__ table, const Index* __restrict__ ids, float* __restrict__ out, int width) {
    const Index row = ids[blockIdx.x];
    for (int d = threadIdx.x; d < width; d += blockDim.x)
        out[static_cast<size_t>(blockIdx.x) * width + d] = table[row * width + d];
}
