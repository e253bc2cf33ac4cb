/*---
launches:
  - kernel: spmv_csr<32>
    grid: ["ceil_div(ROWS * 32, 128)"]
    block: [128]
    args: [ROWS, row_start, column, entry, x, y]
---*/
// Brings: compressed sparse rows of inputs(), __ldg, a shuffle with mask and width, whole warps
// that return early.
#include <hip/hip_runtime.h>

template <unsigned int LANES>
__global__ void spmv_csr(const int rows, const int *__restrict__ row_start,
                         const int *__restrict__ column, const float *__restrict__ entry,
                         const float *__restrict__ x, float *__restrict__ y)
{
    const unsigned int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int lane = thread % LANES;
    const int row = thread / LANES;
    if (row >= rows) return;

    const int end = row_start[row + 1];
    float sum = 0.0f;
    for (int j = row_start[row] + lane; j < end; j += LANES)
        sum += entry[j] * __ldg(&x[column[j]]);

    for (unsigned int offset = LANES / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xFFFFFFFF, sum, offset, LANES);

    if (lane == 0)
        y[row] = sum;
}
