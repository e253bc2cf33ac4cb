/*---
launches:
  - kernel: radix_argsort
    grid: [R]
    block: [256]
    args: [keys, order, N, bits]
constraints: ["N <= 256"]
---*/
// Brings: uint32_t, uint16_t, UINT32_MAX, unsigned keys, a block scan in a device function.
#include <hip/hip_runtime.h>
#include <cstdint>

constexpr int kThreads = 256;

// How many threads before this one hold a flag; *total is how many do in all.
__device__ int count_before(int flag, int *buffer, int *total)
{
    const int t = threadIdx.x;
    buffer[t] = flag;
    __syncthreads();
    for (int d = 1; d < kThreads; d <<= 1) {
        int left = (t >= d) ? buffer[t - d] : 0;
        __syncthreads();
        buffer[t] += left;
        __syncthreads();
    }
    *total = buffer[kThreads - 1];
    return buffer[t] - flag;
}

__global__ void radix_argsort(const uint32_t *keys, int32_t *order, int n, int bits)
{
    __shared__ uint32_t key[kThreads];
    __shared__ uint16_t position[kThreads];
    __shared__ int buffer[kThreads];

    const uint32_t t = threadIdx.x;
    const size_t row = (size_t)blockIdx.x * n;

    // what pads a row is larger than or equal to any key, and comes behind
    key[t] = t < (uint32_t)n ? keys[row + t] : UINT32_MAX;
    position[t] = (uint16_t)t;
    __syncthreads();

    for (int bit = 0; bit < bits; ++bit) {
        const uint32_t my_key = key[t];
        const uint16_t my_position = position[t];
        const int one = (my_key >> bit) & 1u;

        int zeros;
        const int zeros_before = count_before(!one, buffer, &zeros);
        const int target = one ? zeros + (int)t - zeros_before : zeros_before;

        key[target] = my_key;
        position[target] = my_position;
        __syncthreads();
    }

    if (t < (uint32_t)n)
        order[row + t] = position[t];
}
