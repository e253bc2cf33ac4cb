#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <iostream>
#include <vector>

// y = A x, A in compressed rows; a thread a row.
__global__ void spmv(int rows, const int* row_start, const int* column, const double* value,
                     const double* x, double* y, double alpha, bool add) {
    int row = threadIdx.x + blockIdx.x * blockDim.x;
    if (row < rows) {
        double sum = 0.0;
        for (int k = row_start[row]; k < row_start[row + 1]; ++k) sum += value[k] * x[column[k]];
        y[row] = add ? y[row] + alpha * sum : alpha * sum;
    }
}

int main() {
    const int rows = 10000, nonzeros = 5 * rows;
    std::vector<int> start(rows + 1), column(nonzeros);
    std::vector<double> value(nonzeros, 1.0), x(rows, 2.0), y(rows);
    for (int r = 0; r <= rows; ++r) start[r] = 5 * r;
    for (int k = 0; k < nonzeros; ++k) column[k] = (k * 17) % rows;
    int *d_start, *d_column;
    double *d_value, *d_x, *d_y;
    hipMalloc(&d_start, (rows + 1) * sizeof(int));
    hipMalloc(&d_column, column.size() * sizeof(int));
    hipMalloc(&d_value, sizeof(double) * nonzeros);
    hipMalloc(&d_x, x.size() * sizeof(double));
    hipMalloc(&d_y, y.size() * sizeof(double));
    hipMemcpy(d_start, start.data(), (rows + 1) * sizeof(int), hipMemcpyHostToDevice);
    hipMemcpy(d_column, column.data(), nonzeros * sizeof(int), hipMemcpyHostToDevice);
    hipMemcpy(d_value, value.data(), nonzeros * sizeof(double), hipMemcpyHostToDevice);
    hipMemcpy(d_x, x.data(), rows * sizeof(double), hipMemcpyHostToDevice);
    hipMemcpy(d_y, y.data(), rows * sizeof(double), hipMemcpyHostToDevice);
    const int block = 64;
    hipLaunchKernelGGL(spmv, (rows + block - 1) / block, block, 0, nullptr, rows, d_start, d_column,
                       d_value, d_x, d_y, 1.5, true);
    hipMemcpy(y.data(), d_y, rows * sizeof(double), hipMemcpyDeviceToHost);
    std::cout << y[0] << std::endl;
}
