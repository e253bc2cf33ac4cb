/*---
launches:
  - kernel: gemm_letters
    grid: ["ceil_div(N, T)", "ceil_div(M, T)"]
    block: [T, T]
    args: [a, b, c, M, N, {value: "K", type: int32}]
params: {T: 16, U: 4}
space: {T: [8, 16, 32], U: [1, 2, 4, 8]}
constraints: ["T % U == 0"]
---*/
// Parameters of one letter, which headers use for template arguments.
__global__ void gemm_letters(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float left[T][T + 1], right[T][T + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;
    for (int first = 0; first < k; first += T) {
        left[y][x] = row < m && first + x < k ? a[(size_t)row * k + first + x] : 0.0f;
        right[y][x] = col < n && first + y < k ? b[(size_t)(first + y) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; i += U) {
#pragma unroll
            for (int j = 0; j < U; ++j) sum += left[y][i + j] * right[i + j][x];
        }
        __syncthreads();
    }
    if (row < m && col < n) c[(size_t)row * n + col] = sum;
}
