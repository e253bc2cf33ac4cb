/*---
launches:
  - kernel: masked_sum
    grid: [96]
    block: [256]
    args: [x, parts, N]
  - kernel: masked_sum
    grid: [1]
    block: [256]
    args: [parts, out, {value: 96, type: int32}]
scratch: {parts: "4 * 96"}
---*/
// Wavefronts that have no elements are found by a vote, and leave their slot at zero.
__global__ void masked_sum(const float* __restrict__ x, float* __restrict__ parts, int n) {
    __shared__ float slot[256 / WAVEFRONT];
    const int wave = threadIdx.x / WAVEFRONT;
    const int start = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x < 256 / WAVEFRONT) slot[threadIdx.x] = 0.0f;
    __syncthreads();
    if (__ballot(start < n) != 0) {
        float v = 0.0f;
        for (int i = start; i < n; i += gridDim.x * 256) v += x[i];
        for (int d = 1; d < WAVEFRONT; d *= 2) v += __shfl_xor(v, d);
        if (threadIdx.x % WAVEFRONT == 0) slot[wave] = v;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int w = 0; w < 256 / WAVEFRONT; ++w) sum += slot[w];
        parts[blockIdx.x] = sum;
    }
}
