/*---
launches:
  - {kernel: spmv, grid: ["ceil_div(M, 256)"], block: [256], args: [row_start, col, value, x, y, M]}
---*/
// y = A x in double precision: one row a thread.
__global__ void spmv(const int* row_start, const int* col, const float* value, const float* x,
                     double* y, int M) {
    int m = blockIdx.x * 256 + threadIdx.x;
    if (m < M) {
        double sum = 0;
        for (int i = row_start[m]; i < row_start[m + 1]; ++i) sum += (double)value[i] * x[col[i]];
        y[m] = sum;
    }
}
