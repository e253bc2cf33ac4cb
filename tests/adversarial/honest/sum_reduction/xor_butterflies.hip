/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: butterflies
    grid: ["max(1, min(ceil_div(N, 256 * 16), 480))"]
    block: [256]
    args: [x, out, N]
---*/
// All lanes know the wavefront's sum; one atomic a wavefront.
#define STEP(d) if (WAVEFRONT > d) v += __shfl_xor(v, d)

__global__ __launch_bounds__(256) void butterflies(const float* __restrict__ x, float* out, int n) {
    float v = 0.0f;
    const int stride = gridDim.x * 256;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += stride) v += x[i];
    STEP(1);
    STEP(2);
    STEP(4);
    STEP(8);
    STEP(16);
    STEP(32);
    if (__lane_id() == 0) atomicAdd(out, v);
}
