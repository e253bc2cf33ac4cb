/*---
launches:
  - kernel: gemm_slices
    grid: ["ceil_div(N, 8)", "ceil_div(M, 8)", 1]
    block: [8, 8, 4]
    args: [a, b, c, M, N, K]
---*/
// Blocks of 8 x 8 x 4: the four slices take every fourth k, and meet in LDS.
__global__ void gemm_slices(const float* __restrict__ a, const float* __restrict__ b,
                            float* __restrict__ c, int M, int N, int K) {
    __shared__ float slice[4][8][8];
    const int n = blockIdx.x * 8 + threadIdx.x;
    const int m = blockIdx.y * 8 + threadIdx.y;
    const bool inside = m < M && n < N;
    float partial = 0.0f;
    if (inside) {
        for (int k = threadIdx.z; k < K; k += blockDim.z) {
            partial = fmaf(a[(size_t)m * K + k], b[(size_t)k * N + n], partial);
        }
    }
    slice[threadIdx.z][threadIdx.y][threadIdx.x] = partial;
    __syncthreads();
    if (threadIdx.z == 0 && inside) {
        const int x = threadIdx.x, y = threadIdx.y;
        c[(size_t)m * N + n] = (slice[0][y][x] + slice[1][y][x]) + (slice[2][y][x] + slice[3][y][x]);
    }
}
