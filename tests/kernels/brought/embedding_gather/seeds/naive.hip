/*---
launches:
  - kernel: embedding_forward<T>
    grid: [TOKENS]
    block: [64]
    args: [ids, table, out, {value: V, type: int64}, E, {value: padding, type: int64}]
---*/
// Brings: int64_t indices below a dim, assert in device code, three dtypes that share one template.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#include <cassert>
#include <cstdint>

template <typename scalar_t>
__global__ void embedding_forward(const int64_t* __restrict__ ids, const scalar_t* __restrict__ table,
                                  scalar_t* __restrict__ out, int64_t vocab, int width,
                                  int64_t padding) {
  const int64_t token = blockIdx.x;
  const int64_t id = ids[token];
  assert(id >= 0 && id < vocab && "a token beyond the vocabulary");

  for (int e = threadIdx.x; e < width; e += blockDim.x) {
    out[token * width + e] = id == padding ? static_cast<scalar_t>(0.0f) : table[id * width + e];
  }
}
