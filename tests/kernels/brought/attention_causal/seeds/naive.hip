/*---
launches:
  - kernel: attention_forward<causal>
    grid: ["ceil_div(S, 32)", H]
    block: [32]
    args: [q, k, v, o, S, {value: "1 / sqrt(HEAD)", type: float32}]
specialize: [HEAD]
---*/
// Brings: INFINITY, a bool attribute as template argument, 1 / sqrt() as a scalar, a dim as a macro.
#include <hip/hip_runtime.h>
#include <cmath>

constexpr int TILE = 32;

template <bool Causal>
__global__ void attention_forward(const float* __restrict__ q, const float* __restrict__ k,
                                  const float* __restrict__ v, float* __restrict__ o,
                                  int seq, float scale) {
  __shared__ float ks[TILE][HEAD];
  __shared__ float vs[TILE][HEAD];

  const int query = blockIdx.x * TILE + threadIdx.x;
  const size_t head = (size_t)blockIdx.y * seq * HEAD;

  float mine[HEAD], acc[HEAD];
  for (int d = 0; d < HEAD; ++d) {
    mine[d] = query < seq ? q[head + (size_t)query * HEAD + d] * scale : 0.0f;
    acc[d] = 0.0f;
  }
  float running_max = -INFINITY, running_sum = 0.0f;

  // a causal block needs no keys behind its last query
  const int last = Causal ? min(seq, (int)(blockIdx.x + 1) * TILE) : seq;
  for (int start = 0; start < last; start += TILE) {
    for (int i = threadIdx.x; i < TILE * HEAD; i += blockDim.x) {
      const int key = start + i / HEAD;
      ks[i / HEAD][i % HEAD] = key < seq ? k[head + (size_t)start * HEAD + i] : 0.0f;
      vs[i / HEAD][i % HEAD] = key < seq ? v[head + (size_t)start * HEAD + i] : 0.0f;
    }
    __syncthreads();

    for (int j = 0; j < TILE; ++j) {
      const int key = start + j;
      if (key >= seq || (Causal && key > query)) break;
      float score = 0.0f;
#pragma unroll
      for (int d = 0; d < HEAD; ++d) score += mine[d] * ks[j][d];

      const float new_max = fmaxf(running_max, score);
      const float shrink = expf(running_max - new_max);
      const float weight = expf(score - new_max);
      running_sum = running_sum * shrink + weight;
#pragma unroll
      for (int d = 0; d < HEAD; ++d) acc[d] = acc[d] * shrink + weight * vs[j][d];
      running_max = new_max;
    }
    __syncthreads();
  }

  if (query < seq)
    for (int d = 0; d < HEAD; ++d) o[head + (size_t)query * HEAD + d] = acc[d] / running_sum;
}
