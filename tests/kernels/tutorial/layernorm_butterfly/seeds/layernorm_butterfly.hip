/*---
launches:
  - kernel: layer_norm_kernel<256>
    grid: [ROWS]
    block: [256]
    args: [y, x, gamma, beta, COLS, {value: "1", type: float32}]
---*/
#include <hip/hip_runtime.h>

#define NUM_WAVES(threads) ((threads) / WAVEFRONT)

template <typename T>
__device__ __forceinline__ T wave_all_reduce_sum(T v) {
#pragma unroll
  for (int mask = WAVEFRONT >> 1; mask > 0; mask >>= 1) {
    v += __shfl_xor(v, mask);
  }
  return v;  // the same in all lanes
}

// The sum over the block, returned to every thread. Contains barriers.
template <int kThreads>
__device__ __forceinline__ float block_all_reduce_sum(float v, float* smem) {
  v = wave_all_reduce_sum<float>(v);
  if constexpr (NUM_WAVES(kThreads) > 1) {
    if (threadIdx.x % WAVEFRONT == 0) smem[threadIdx.x / WAVEFRONT] = v;
    __syncthreads();
    v = 0.f;
#pragma unroll
    for (int w = 0; w < NUM_WAVES(kThreads); ++w) v += smem[w];
    __syncthreads();  // smem may be used again
  }
  return v;
}

template <int kThreads>
__global__ __launch_bounds__(kThreads) void layer_norm_kernel(
    float* __restrict__ out, const float* __restrict__ in,
    const float* __restrict__ gamma, const float* __restrict__ beta,
    int cols, float eps_e5) {
  __shared__ float smem[NUM_WAVES(kThreads)];

  in += (size_t)blockIdx.x * cols;
  out += (size_t)blockIdx.x * cols;

  float sum = 0.f;
  for (int c = threadIdx.x; c < cols; c += kThreads) sum += in[c];
  const float mean = block_all_reduce_sum<kThreads>(sum, smem) / cols;

  float sq = 0.f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    const float d = in[c] - mean;
    sq += d * d;
  }
  const float var = block_all_reduce_sum<kThreads>(sq, smem) / cols;
  const float rstd = rsqrtf(var + eps_e5 * 1e-5f);

  for (int c = threadIdx.x; c < cols; c += kThreads) {
    out[c] = (in[c] - mean) * rstd * gamma[c] + beta[c];
  }
}
