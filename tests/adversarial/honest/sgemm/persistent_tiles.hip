/*---
launches:
  - kernel: gemm_persistent
    grid: [BLOCKS]
    block: [16, 16]
    args: [a, b, c, M, N, K]
params: {BLOCKS: 60}
space: {BLOCKS: [1, 30, 60, 120, 304]}
---*/
// A fixed number of blocks; each takes tile after tile.
__device__ void multiply_tile(const float (&x)[16][16], const float (&y)[16][17], int i, int j,
                              float& sum) {
    for (int k = 0; k < 16; ++k) sum += x[i][k] * y[k][j];
}

__global__ void gemm_persistent(const float* a, const float* b, float* c, int M, int N, int K) {
    __shared__ float x[16][16];
    __shared__ float y[16][17];
    const int across = (N + 15) / 16;
    const int tiles = across * ((M + 15) / 16);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int row = tile / across * 16 + threadIdx.y;
        const int col = tile % across * 16 + threadIdx.x;
        float sum = 0.0f;
        for (int k0 = 0; k0 < K; k0 += 16) {
            const int ka = k0 + threadIdx.x;
            const int kb = k0 + threadIdx.y;
            x[threadIdx.y][threadIdx.x] = (row < M && ka < K) ? a[row * K + ka] : 0.0f;
            y[threadIdx.y][threadIdx.x] = (kb < K && col < N) ? b[kb * N + col] : 0.0f;
            __syncthreads();
            multiply_tile(x, y, threadIdx.y, threadIdx.x, sum);
            __syncthreads();
        }
        if (row < M && col < N) c[row * N + col] = sum;
    }
}
