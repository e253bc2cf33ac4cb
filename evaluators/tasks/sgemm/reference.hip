/*---
launches:
  - kernel: product
    grid: ["ceil_div(N, 32)", "ceil_div(M, 32)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
// c = a b in double precision: four elements a thread, from tiles in LDS.
__global__ void product(const float* a, const float* b, double* c, int M, int N, int K) {
    __shared__ double left[32][17], right[16][33];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 32 + y, col = blockIdx.x * 32 + x;
    double s00 = 0, s01 = 0, s10 = 0, s11 = 0;
    for (int k = 0; k < K; k += 16) {
        for (int half = 0; half < 32; half += 16) {
            bool in_a = row + half < M && k + x < K, in_b = k + y < K && col + half < N;
            left[y + half][x] = in_a ? a[(size_t)(row + half) * K + k + x] : 0.0f;
            right[y][x + half] = in_b ? b[(size_t)(k + y) * N + col + half] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < 16; ++i) {
            double a0 = left[y][i], a1 = left[y + 16][i];
            double b0 = right[i][x], b1 = right[i][x + 16];
            s00 += a0 * b0;
            s01 += a0 * b1;
            s10 += a1 * b0;
            s11 += a1 * b1;
        }
        __syncthreads();
    }
    if (row < M && col < N) c[(size_t)row * N + col] = s00;
    if (row < M && col + 16 < N) c[(size_t)row * N + col + 16] = s01;
    if (row + 16 < M && col < N) c[(size_t)(row + 16) * N + col] = s10;
    if (row + 16 < M && col + 16 < N) c[(size_t)(row + 16) * N + col + 16] = s11;
}
