/*---
launches:
  - kernel: topk_kernel
    grid: [R]
    block: [64]
    lds_bytes: "sizeof(float32) * C"
    args: [x, values, places, C, k]
---*/
// Brings: FLT_MAX, int64_t places judged by check(), an attribute in a shape, dynamic LDS beside
// static LDS.
#include <hip/hip_runtime.h>
#include <cfloat>
#include <cstdint>

constexpr int kThreads = 64;

__global__ void topk_kernel(const float* x, float* values, int64_t* places, int cols, int k) {
  extern __shared__ float row[];
  __shared__ float best_value[kThreads];
  __shared__ int best_place[kThreads];
  const int tid = threadIdx.x;

  for (int i = tid; i < cols; i += kThreads) row[i] = x[(int64_t)blockIdx.x * cols + i];
  __syncthreads();

  for (int round = 0; round < k; ++round) {
    float value = -FLT_MAX;
    int place = -1;
    for (int i = tid; i < cols; i += kThreads) {
      if (row[i] > value) {
        value = row[i];
        place = i;
      }
    }
    best_value[tid] = value;
    best_place[tid] = place;
    __syncthreads();

    for (int s = kThreads / 2; s > 0; s /= 2) {
      if (tid < s && best_value[tid + s] > best_value[tid]) {
        best_value[tid] = best_value[tid + s];
        best_place[tid] = best_place[tid + s];
      }
      __syncthreads();
    }

    if (tid == 0) {
      values[(int64_t)blockIdx.x * k + round] = best_value[0];
      places[(int64_t)blockIdx.x * k + round] = best_place[0];
      row[best_place[0]] = -FLT_MAX;  // taken
    }
    __syncthreads();
  }
}
