/*---
launches:
  - kernel: scan
    grid: [ROWS]
    block: [128]
    lds_bytes: "2 * 128 * 4"
    args: [y, x, COLS]
---*/
#include <hip/hip_runtime.h>

__global__ void scan(float *g_odata, const float *g_idata, int n)
{
  extern __shared__ float temp[]; // two buffers of blockDim.x floats, used in turns

  int thid = threadIdx.x;
  int width = blockDim.x;
  float carry = 0.0f;

  // a row may be longer than the block: one chunk after the other, with a carry
  for (int base = 0; base < n; base += width)
  {
    int pout = 0, pin = 1;
    int idx = blockIdx.x * n + base + thid;

    temp[pout * width + thid] = (base + thid < n) ? g_idata[idx] : 0.0f;
    __syncthreads();

    int offset = 1;
    while (offset < width)
    {
      pout = 1 - pout; // swap double buffer indices
      pin = 1 - pout;
      if (thid >= offset)
        temp[pout * width + thid] = temp[pin * width + thid] + temp[pin * width + thid - offset];
      else
        temp[pout * width + thid] = temp[pin * width + thid];
      __syncthreads();
      offset *= 2;
    }

    if (base + thid < n)
      g_odata[idx] = carry + temp[pout * width + thid];

    carry += temp[pout * width + width - 1];
    __syncthreads(); // everyone has read the carry before temp is overwritten
  }
}
