/*---
launches:
  - {kernel: row_sum, grid: ["ceil_div(R, 4)"], block: [32, 4], args: [x, y, R, C]}
---*/
#define FULL_MASK 0xffffffff

__global__ void row_sum(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) sum += x[row * cols + c];
    for (int offset = 16; offset > 0; offset >>= 1)
        sum += __shfl_down_sync(FULL_MASK, sum, offset, 32);
    if (threadIdx.x == 0) y[row] = sum;
}
