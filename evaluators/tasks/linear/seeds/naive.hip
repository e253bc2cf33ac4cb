/*---
launches:
  - kernel: linear<T>
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [x, w, bias, y, M, N, K]
---*/
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

// One output a thread: the product of a row of x and a row of w.
template <typename T>
__global__ void linear(const T* x, const T* w, const T* bias, T* y, int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += (float)x[(size_t)row * K + k] * (float)w[(size_t)col * K + k];
        }
        if (bias) {
            sum += (float)bias[col];
        }
        y[(size_t)row * N + col] = T(sum);
    }
}
