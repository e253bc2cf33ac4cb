/*---
launches:
  - kernel: fp8_gemm
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [a, b, a_scale, b_scale, c, M, N, K]
---*/
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>

// One output a thread; a block of 128 products is summed, then scaled.
__global__ void fp8_gemm(const __hip_fp8_e4m3_fnuz* a, const __hip_fp8_e4m3_fnuz* b,
                         const float* a_scale, const float* b_scale, __hip_bfloat16* c, int M,
                         int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int block = 0; block < K / 128; ++block) {
            float part = 0.0f;
            for (int k = 128 * block; k < 128 * (block + 1); ++k) {
                part += (float)a[(size_t)k * M + row] * (float)b[(size_t)k * N + col];
            }
            sum += part * a_scale[block * M + row] * b_scale[block * ((N + 127) / 128) + col / 128];
        }
        c[(size_t)row * N + col] = __float2bfloat16(sum);
    }
}
