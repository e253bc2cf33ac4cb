/*---
launches:
  - {memset: {buffer: hits, byte: 0}}
  - kernel: count_hits
    grid: ["min(16, ceil_div(SAMPLES, 256))"]
    block: [256]
    args: [hits, {value: SAMPLES, type: int64}, {value: seed, type: uint64}]
---*/
// Brings: unsigned long long atomics, long long and unsigned long long scalars, 64-bit constants,
// a uint64 output, a task that has no input.
#include <hip/hip_runtime.h>

typedef unsigned long long u64;

__device__ __forceinline__ u64 splitmix(u64 h)
{
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
    return h ^ (h >> 31);
}

__global__ void count_hits(u64 *hits, long long samples, unsigned long long seed)
{
    __shared__ unsigned int in_block;
    if (threadIdx.x == 0)
        in_block = 0;
    __syncthreads();

    unsigned int mine = 0;
    const long long stride = (long long)blockDim.x * gridDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < samples; i += stride) {
        const u64 h = splitmix(seed + (u64)(i + 1) * 0x9e3779b97f4a7c15ULL);
        const u64 x = h & 0xffff, y = (h >> 16) & 0xffff;
        mine += x * x + y * y <= 65535ULL * 65535ULL;
    }
    atomicAdd(&in_block, mine);
    __syncthreads();

    if (threadIdx.x == 0)
        atomicAdd(hits, (u64)in_block);
}
