/*---
launches:
  - kernel: sgemm_2d_tile<BM, BN, BK, 4, 4>
    grid: ["ceil_div(N, BN)", "ceil_div(M, BM)"]
    block: ["BM * BN // 16"]
    args: [M, N, K, alpha, A, B, beta, C]
params: {BM: 32, BN: 32, BK: 8}
---*/
// Brings: float4 loads by reinterpret_cast, __launch_bounds__ of an expression, register tiles,
// alpha and beta. N and K are multiples of 4.
#include <hip/hip_runtime.h>

template <const int TM_ROWS, const int TN_COLS, const int DEPTH, const int TM, const int TN>
__global__ void __launch_bounds__((TM_ROWS * TN_COLS) / (TM * TN), 1)
    sgemm_2d_tile(int M, int N, int K, float alpha, const float *A, const float *B, float beta,
                  float *C) {
  static_assert(TN == 4, "results leave as float4");
  constexpr int threads = (TM_ROWS * TN_COLS) / (TM * TN);
  __shared__ float As[DEPTH * TM_ROWS];  // transposed
  __shared__ float Bs[DEPTH * TN_COLS];

  const int rowBase = blockIdx.y * TM_ROWS, colBase = blockIdx.x * TN_COLS;
  const int threadRow = threadIdx.x / (TN_COLS / TN), threadCol = threadIdx.x % (TN_COLS / TN);
  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float results[TM][TN] = {{0.0f}};

  for (int kBase = 0; kBase < K; kBase += DEPTH) {
    for (int i = threadIdx.x; i < TM_ROWS * DEPTH / 4; i += threads) {
      const int r = i / (DEPTH / 4), k = i % (DEPTH / 4) * 4;
      float4 v = zero;
      if (rowBase + r < M && kBase + k < K)
        v = *reinterpret_cast<const float4 *>(&A[(rowBase + r) * K + kBase + k]);
      As[(k + 0) * TM_ROWS + r] = v.x;
      As[(k + 1) * TM_ROWS + r] = v.y;
      As[(k + 2) * TM_ROWS + r] = v.z;
      As[(k + 3) * TM_ROWS + r] = v.w;
    }
    for (int i = threadIdx.x; i < DEPTH * TN_COLS / 4; i += threads) {
      const int k = i / (TN_COLS / 4), c = i % (TN_COLS / 4) * 4;
      const bool inside = kBase + k < K && colBase + c < N;
      reinterpret_cast<float4 *>(Bs)[i] =
          inside ? *reinterpret_cast<const float4 *>(&B[(kBase + k) * N + colBase + c]) : zero;
    }
    __syncthreads();

    for (int k = 0; k < DEPTH; ++k)
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j)
          results[i][j] += As[k * TM_ROWS + threadRow * TM + i] * Bs[k * TN_COLS + threadCol * TN + j];
    __syncthreads();
  }

  for (int i = 0; i < TM; ++i) {
    const int row = rowBase + threadRow * TM + i, col = colBase + threadCol * TN;
    if (row >= M || col >= N) return;
    float4 *target = reinterpret_cast<float4 *>(&C[row * N + col]);
    float4 old = *target;
    old.x = alpha * results[i][0] + beta * old.x;
    old.y = alpha * results[i][1] + beta * old.y;
    old.z = alpha * results[i][2] + beta * old.z;
    old.w = alpha * results[i][3] + beta * old.w;
    *target = old;
  }
}
