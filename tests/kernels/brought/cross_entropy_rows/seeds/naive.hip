/*---
launches:
  - kernel: cross_entropy
    grid: [R]
    block: [128]
    lds_bytes: "4 * 128"
    args: [logits, labels, loss, dlogits, V, {value: ignore_index, type: int64}]
---*/
// Brings: a return of the whole block before barriers, int64_t labels, INFINITY and NAN, a functor
// object handed to a device function with barriers, dynamic LDS.
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdint>

struct MaxOp { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct SumOp { __device__ float operator()(float a, float b) const { return a + b; } };

template <typename Op>
__device__ float block_reduce(float value, float* buffer, Op op) {
  const unsigned t = threadIdx.x;
  __syncthreads();
  buffer[t] = value;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) buffer[t] = op(buffer[t], buffer[t + s]);
    __syncthreads();
  }
  return buffer[0];
}

__global__ void cross_entropy(const float* logits, const int64_t* labels, float* loss,
                              float* dlogits, int classes, int64_t ignore_index) {
  extern __shared__ float buffer[];
  const int64_t row = blockIdx.x;
  const int64_t label = labels[row];
  const float* x = logits + row * classes;
  float* dx = dlogits + row * classes;

  if (label == ignore_index || label < 0 || label >= classes) {
    for (int i = threadIdx.x; i < classes; i += blockDim.x) dx[i] = 0.0f;
    if (threadIdx.x == 0) loss[row] = label == ignore_index ? 0.0f : NAN;
    return;
  }

  float top = -INFINITY;
  for (int i = threadIdx.x; i < classes; i += blockDim.x) top = fmaxf(top, x[i]);
  top = block_reduce(top, buffer, MaxOp());

  float sum = 0.0f;
  for (int i = threadIdx.x; i < classes; i += blockDim.x) sum += expf(x[i] - top);
  sum = block_reduce(sum, buffer, SumOp());

  if (threadIdx.x == 0) loss[row] = logf(sum) + top - x[label];
  for (int i = threadIdx.x; i < classes; i += blockDim.x)
    dx[i] = expf(x[i] - top) / sum - (i == label ? 1.0f : 0.0f);
}
