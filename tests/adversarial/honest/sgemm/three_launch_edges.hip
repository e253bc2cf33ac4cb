/*---
launches:
  - kernel: inner_tiles
    when: "M >= 32 and N >= 32"
    grid: ["N // 32", "M // 32"]
    block: [8, 32]
    args: [a, b, c, N, K]
  - kernel: edge
    when: "N % 32 != 0"
    grid: [1, "ceil_div(M, 8)"]
    block: [32, 8]
    args: [a, b, c, {value: 0, type: int32}, {value: "N // 32 * 32", type: int32}, M, N, N, K]
  - kernel: edge
    when: "M % 32 != 0 and N >= 32"
    grid: ["N // 32", "ceil_div(M % 32, 8)"]
    block: [32, 8]
    args: [a, b, c, {value: "M // 32 * 32", type: int32}, {value: 0, type: int32}, M,
           {value: "N // 32 * 32", type: int32}, N, K]
---*/
// Whole tiles by one kernel without a single check, the two edges by another.
__global__ __launch_bounds__(256) void inner_tiles(const float* __restrict__ a,
                                                   const float* __restrict__ b,
                                                   float* __restrict__ c, int N, int K) {
    const int row = blockIdx.y * 32 + threadIdx.y;
    const int col = blockIdx.x * 32 + threadIdx.x * 4;
    const float* left = a + (size_t)row * K;
    const float* right = b + col;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k = 0; k < K; ++k, right += N) {
        const float x = left[k];
        sum[0] += x * right[0];
        sum[1] += x * right[1];
        sum[2] += x * right[2];
        sum[3] += x * right[3];
    }
    float* to = c + (size_t)row * N + col;
    to[0] = sum[0], to[1] = sum[1], to[2] = sum[2], to[3] = sum[3];
}

__global__ void edge(const float* a, const float* b, float* c, int first_row, int first_col,
                     int last_row, int last_col, int N, int K) {
    const int row = first_row + blockIdx.y * 8 + threadIdx.y;
    const int col = first_col + blockIdx.x * 32 + threadIdx.x;
    if (row >= last_row || col >= last_col) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[(size_t)row * K + k] * b[(size_t)k * N + col];
    c[(size_t)row * N + col] = sum;
}
