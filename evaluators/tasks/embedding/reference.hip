/*---
launches:
  - {kernel: embedding, grid: [N], block: [256], args: [ids, table, y, D]}
---*/
#include <hip/hip_bf16.h>
// Rows of a table, in double precision: a block for each row.
__global__ void embedding(const long long* ids, const __hip_bfloat16* table, double* y, int D) {
    const __hip_bfloat16* row = table + ids[blockIdx.x] * D;
    for (int d = threadIdx.x; d < D; d += 256)
        y[(size_t)blockIdx.x * D + d] = __bfloat162float(row[d]);
}
