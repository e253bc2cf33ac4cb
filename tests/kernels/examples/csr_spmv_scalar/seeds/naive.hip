/*---
launches:
  - {kernel: spmv_csr, grid: ["ceil_div(M, 128)"], block: [128], args: [M, row_ptr, col, val, x, y]}
---*/
__global__ void spmv_csr(int rows, const int* row_ptr, const int* col, const float* val,
                         const float* x, float* y) {
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < rows) {
        float dot = 0;
        for (int j = row_ptr[row]; j < row_ptr[row + 1]; j++) dot += val[j] * x[col[j]];
        y[row] = dot;
    }
}
