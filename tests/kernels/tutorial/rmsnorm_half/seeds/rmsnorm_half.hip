/*---
launches:
  - kernel: rms_norm
    grid: [ROWS]
    block: [192]
    args: [x, weight, y, COLS]
---*/
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

#define EPSILON 1e-6f
#define WAVES (192 / WAVEFRONT)

__global__ void rms_norm(const __half* x, const __half* weight, __half* y, int cols)
{
    __shared__ float partial[WAVES];
    __shared__ float scale;

    const int tid  = threadIdx.x;
    const int lane = tid & (WAVEFRONT - 1);
    const int wave = tid / WAVEFRONT;
    const __half* row = x + blockIdx.x * cols;

    float ss = 0.0f;
    for(int c = tid; c < cols; c += blockDim.x)
    {
        float v = __half2float(row[c]);
        ss += v * v;
    }

    int d = WAVEFRONT / 2;
    while(d >= 1)
    {
        ss += __shfl_down(ss, d, WAVEFRONT);
        d /= 2;
    }
    if(lane == 0)
        partial[wave] = ss;
    __syncthreads();

    if(tid == 0)
    {
        float total = 0.0f;
        for(int w = 0; w < WAVES; w++)
            total += partial[w];
        scale = rsqrtf(total / (float)cols + EPSILON);
    }
    __syncthreads();

    for(int c = tid; c < cols; c += blockDim.x)
    {
        float v = __half2float(row[c]) * scale * __half2float(weight[c]);
        y[blockIdx.x * cols + c] = __float2half(v);
    }
}
