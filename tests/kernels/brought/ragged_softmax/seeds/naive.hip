/*---
launches:
  - kernel: ragged_softmax
    grid: [B]
    block: [64]
    args: [scores, lengths, probs, L, {value: "1 / temperature", type: float32}]
---*/
// Brings: an early return ahead of barriers in a device function that other work follows, ragged
// lengths of inputs(), 1 / temperature.
#include <hip/hip_runtime.h>
#include <cmath>

#define BLOCK 64

__device__ float fold(float v, bool take_max)
{
    __shared__ float shared[BLOCK];
    const int t = threadIdx.x;
    shared[t] = v;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s)
            shared[t] = take_max ? fmaxf(shared[t], shared[t + s]) : shared[t] + shared[t + s];
        __syncthreads();
    }
    const float result = shared[0];
    __syncthreads();
    return result;
}

__device__ void softmax_of(const float *x, float *y, int length, float inverse)
{
    if (length == 0)
        return; // the same for all threads of the block

    float top = -INFINITY;
    for (int i = threadIdx.x; i < length; i += BLOCK)
        top = fmaxf(top, x[i]);
    top = fold(top, true);

    float sum = 0.0f;
    for (int i = threadIdx.x; i < length; i += BLOCK)
        sum += expf((x[i] - top) * inverse);
    sum = fold(sum, false);

    for (int i = threadIdx.x; i < length; i += BLOCK)
        y[i] = expf((x[i] - top) * inverse) / sum;
}

__global__ void ragged_softmax(const float *scores, const int *lengths, float *probs, int width,
                               float inverse)
{
    const float *x = scores + blockIdx.x * width;
    float *y = probs + blockIdx.x * width;
    const int length = lengths[blockIdx.x];

    softmax_of(x, y, length, inverse);
    for (int i = length + threadIdx.x; i < width; i += BLOCK)
        y[i] = 0.0f;
}
