/*---
launches:
  - kernel: transpose_lambda
    grid: ["ceil_div(C, 64)", "ceil_div(R, 64)"]
    block: [64]
    args: [x, y, R, C]
---*/
// A lambda for the edge and one for the inside of the matrix.
__global__ void transpose_lambda(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    const auto col = int(blockIdx.x * 64 + threadIdx.x);
    const auto first = int(blockIdx.y * 64);
    auto move = [x, y, R, C, col](int row) { y[size_t(col) * R + row] = x[size_t(row) * C + col]; };
    auto move_checked = [&](int row) {
        if (row < R && col < C) move(row);
    };
    if (first + 64 <= R && col < C) {
#pragma unroll 4
        for (int i = 0; i < 64; ++i) move(first + i);
    } else {
        for (int i = 0; i < 64; ++i) move_checked(first + i);
    }
}
