/*---
launches:
  - kernel: batched_gemm
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)", B]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
#include <hip/hip_bf16.h>

// One output a thread, one product a slice of the grid.
__global__ void batched_gemm(const __hip_bfloat16* a, const __hip_bfloat16* b, __hip_bfloat16* c,
                             int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    a += (size_t)blockIdx.z * M * K;
    b += (size_t)blockIdx.z * K * N;
    c += (size_t)blockIdx.z * M * N;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += __bfloat162float(a[row * K + k]) * __bfloat162float(b[k * N + col]);
        }
        c[row * N + col] = __float2bfloat16(sum);
    }
}
