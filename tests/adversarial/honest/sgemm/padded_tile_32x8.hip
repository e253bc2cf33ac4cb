/*---
launches:
  - kernel: gemm_padded
    grid: ["ceil_div(N, 32)", "ceil_div(M, 32)"]
    block: [32, 8]
    args: [a, b, c, M, N, K]
---*/
// A 32 x 32 tile by 32 x 8 threads, four rows each; tiles in LDS have a column too many, so that
// columns of a fall on different banks.
constexpr int TILE = 32;
constexpr int ROWS = 8;
constexpr int PER_THREAD = TILE / ROWS;
static_assert(TILE % ROWS == 0, "each thread has the same number of rows");

__global__ void __launch_bounds__(256)
gemm_padded(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
            int M, int N, int K) {
    __shared__ float left[TILE][TILE + 1];
    __shared__ float right[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int col = blockIdx.x * TILE + tx;
    const int row0 = blockIdx.y * TILE + ty;
    float sum[PER_THREAD] = {0.0f};

    for (int k0 = 0; k0 < K; k0 += TILE) {
#pragma unroll
        for (int i = 0; i < PER_THREAD; ++i) {
            const int y = ty + i * ROWS;
            const int row = row0 + i * ROWS;
            left[y][tx] = (row < M && k0 + tx < K) ? a[(size_t)row * K + k0 + tx] : 0.0f;
            right[y][tx] = (k0 + y < K && col < N) ? b[(size_t)(k0 + y) * N + col] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            const float bk = right[k][tx];
#pragma unroll
            for (int i = 0; i < PER_THREAD; ++i) {
                sum[i] = fmaf(left[ty + i * ROWS][k], bk, sum[i]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < PER_THREAD; ++i) {
        const int row = row0 + i * ROWS;
        if (row < M && col < N) c[(size_t)row * N + col] = sum[i];
    }
}
