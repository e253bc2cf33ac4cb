/*---
launches:
  - kernel: dropout<T>
    grid: ["ceil_div(N, 256)"]
    block: [256]
    args: [x, y, kept, {value: N, type: uint32}, p, {value: "1 / (1 - p)", type: float32}, {value: seed, type: uint64}]
---*/
// Brings: a 32-bit hash, a uint64_t seed, bool outputs, one source in two dtypes, 1 / (1 - p).
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <cstdint>

__device__ __forceinline__ uint32_t mix(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ (h >> 16);
}

template <typename scalar_t>
__global__ void dropout(const scalar_t *__restrict__ x, scalar_t *__restrict__ y,
                        bool *__restrict__ kept, uint32_t n, float p, float scale, uint64_t seed)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;

    uint32_t h = mix(i * 0x9e3779b9u + (uint32_t)seed);
    h = mix(h ^ (uint32_t)(seed >> 32));
    const float u = (h >> 8) * (1.0f / 16777216.0f);

    const bool keep = u >= p;
    kept[i] = keep;
    y[i] = keep ? scalar_t(float(x[i]) * scale) : scalar_t(0.0f);
}
