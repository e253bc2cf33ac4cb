/*---
launches:
  - {kernel: add_noise, grid: ["ceil_div(N, 256)"], block: [256], args: [x, y, {value: N, type: uint32}, {value: seed, type: uint32}]}
---*/
#include <cassert>
#include <climits>

__device__ __forceinline__ uint32_t mix(uint32_t h) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    return h ^ (h >> 13);
}

__global__ void add_noise(const float* x, float* y, uint32_t n, uint32_t seed) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(n < UINT_MAX);
    if (i < n) y[i] = x[i] + (mix(i * 2654435761u + seed) >> 8) * (1.0f / 16777216.0f);
}
