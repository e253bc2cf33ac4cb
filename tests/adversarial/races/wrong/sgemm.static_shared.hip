/*---
launches:
  - kernel: gemm
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
// The second barrier of a tile is missing: a quick wavefront overwrites what others still read.
__global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
    static __shared__ float as[16][16], bs[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        as[ty][tx] = row < M && k0 + tx < K ? a[row * K + k0 + tx] : 0;
        bs[ty][tx] = k0 + ty < K && col < N ? b[(k0 + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += as[ty][k] * bs[k][tx];
    }
    if (row < M && col < N) c[row * N + col] = sum;
}
