/*---
launches:
  - kernel: row_norm
    grid: [ROWS]
    block: [256]
    args: [x, norms, COLS]
---*/
#include <hip/hip_runtime.h>

__device__ __inline__ float warpReduceSum(float val) {
  for (int offset = WAVEFRONT / 2; offset > 0; offset /= 2)
    val += __shfl_down(val, offset);
  return val;
}

__device__ __inline__ float blockReduceSum(float val) {
  __shared__ float shared[WAVEFRONT];  // one partial sum per wavefront
  int lane = threadIdx.x % WAVEFRONT;
  int wid = threadIdx.x / WAVEFRONT;

  val = warpReduceSum(val);        // each wavefront adds up its own

  if (lane == 0) shared[wid] = val;
  __syncthreads();                 // wait for all partial sums

  // read from shared memory only if that wavefront existed
  val = (threadIdx.x < blockDim.x / WAVEFRONT) ? shared[lane] : 0;

  if (wid == 0) val = warpReduceSum(val);  // final sum within the first wavefront
  return val;
}

__global__ void row_norm(const float *x, float *norms, int cols) {
  const float *row = x + blockIdx.x * cols;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    sum += row[i] * row[i];
  sum = blockReduceSum(sum);
  if (threadIdx.x == 0)
    norms[blockIdx.x] = sqrtf(sum);
}
