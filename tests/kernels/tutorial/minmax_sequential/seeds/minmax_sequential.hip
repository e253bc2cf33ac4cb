/*---
launches:
  - kernel: minmax_blocks
    grid: [BLOCKS]
    block: [256]
    args: [values, pairs, N]
  - kernel: minmax_final
    grid: [1]
    block: [BLOCKS]
    args: [pairs, lowest, highest]
scratch: {pairs: "8 * BLOCKS"}
params: {BLOCKS: 8}
space: {BLOCKS: [4, 8, 16]}
constraints: ["BLOCKS <= 256"]
---*/
#include <hip/hip_runtime.h>

#define LARGEST 3.402823466e+38f

struct MinMax
{
    float lo;
    float hi;

    __device__ void include(float v)
    {
        lo = fminf(lo, v);
        hi = fmaxf(hi, v);
    }
};

__device__ MinMax join(const MinMax& a, const MinMax& b)
{
    MinMax r;
    r.lo = a.lo < b.lo ? a.lo : b.lo;
    r.hi = a.hi > b.hi ? a.hi : b.hi;
    return r;
}

// Sequential addressing. The whole block must call this; the result is in box[0].
template <int THREADS>
__device__ void tree(MinMax* box)
{
    for (int stride = THREADS / 2; stride > 0; stride >>= 1)
    {
        if (threadIdx.x < stride)
        {
            box[threadIdx.x] = join(box[threadIdx.x], box[threadIdx.x + stride]);
        }
        __syncthreads();
    }
}

__global__ void minmax_blocks(const float* values, MinMax* pairs, int n)
{
    __shared__ MinMax box[256];

    MinMax mine = {LARGEST, -LARGEST};
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    {
        mine.include(values[i]);
    }
    box[threadIdx.x] = mine;
    __syncthreads();

    tree<256>(box);

    if (threadIdx.x == 0)
    {
        pairs[blockIdx.x] = box[0];
    }
}

__global__ void minmax_final(const MinMax* pairs, float* lowest, float* highest)
{
    __shared__ MinMax box[BLOCKS];
    box[threadIdx.x] = pairs[threadIdx.x];
    __syncthreads();

    tree<BLOCKS>(box);

    if (threadIdx.x == 0)
    {
        lowest[0] = box[0].lo;
        highest[0] = box[0].hi;
    }
}
