/*---
launches:
  - kernel: embedding
    grid: [N]
    block: [256]
    args: [ids, table, y, D]
---*/
#include <hip/hip_bf16.h>

// A block a row, one element a thread and turn.
__global__ void embedding(const long long* ids, const __hip_bfloat16* table, __hip_bfloat16* y,
                          int D) {
    const __hip_bfloat16* row = table + ids[blockIdx.x] * D;
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        y[(size_t)blockIdx.x * D + d] = row[d];
    }
}
