/*---
launches:
  - kernel: softmax_kernel
    grid: [ROWS]
    block: [THREADS]
    lds_bytes: "4 * THREADS"
    args: [logits, probs, ROWS, COLS]
params: {THREADS: 128}
space: {THREADS: [64, 128, 256]}
---*/
#include <hip/hip_runtime.h>

// Both reductions leave their result in buf[0] and end with a barrier,
// so that every thread may read it.
__device__ float reduce_max(float *buf, float value)
{
    const int tid = threadIdx.x;
    buf[tid] = value;
    __syncthreads();
    for (int active = blockDim.x >> 1; active; active >>= 1) {
        if (tid < active)
            buf[tid] = fmaxf(buf[tid], buf[tid + active]);
        __syncthreads();
    }
    return buf[0];
}

__device__ float reduce_sum(float *buf, float value)
{
    const int tid = threadIdx.x;
    buf[tid] = value;
    __syncthreads();
    for (int active = blockDim.x >> 1; active; active >>= 1) {
        if (tid < active)
            buf[tid] += buf[tid + active];
        __syncthreads();
    }
    return buf[0];
}

__global__ void softmax_kernel(const float *logits, float *probs, int rows, int cols)
{
    extern __shared__ float buf[];

    const int row = blockIdx.x;
    if (row >= rows) return;

    const float *x = logits + row * cols;
    float *y = probs + row * cols;

    float m = -3.0e38f;
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
        m = fmaxf(m, x[j]);
    const float row_max = reduce_max(buf, m);
    __syncthreads();   // buf is about to be written again

    float s = 0.0f;
    for (int j = threadIdx.x; j < cols; j += blockDim.x) {
        const float e = expf(x[j] - row_max);
        y[j] = e;
        s += e;
    }
    const float inv = 1.0f / reduce_sum(buf, s);

    for (int j = threadIdx.x; j < cols; j += blockDim.x)
        y[j] *= inv;
}
