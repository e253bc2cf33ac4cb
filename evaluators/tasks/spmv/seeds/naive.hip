/*---
launches:
  - kernel: spmv
    grid: ["ceil_div(M, 256)"]
    block: [256]
    args: [row_start, col, value, x, y, M]
---*/
// One row a thread.
__global__ void spmv(const int* row_start, const int* col, const float* value, const float* x,
                     float* y, int M) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m < M) {
        float sum = 0.0f;
        for (int i = row_start[m]; i < row_start[m + 1]; ++i) {
            sum += value[i] * x[col[i]];
        }
        y[m] = sum;
    }
}
