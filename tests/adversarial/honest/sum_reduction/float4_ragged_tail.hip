/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: sum_vec4
    grid: [208]
    block: [256]
    args: [x, out, N]
---*/
// Sixteen bytes a load; up to three elements are left for the first threads.
__global__ void sum_vec4(const float* __restrict__ x, float* __restrict__ out, int n) {
    __shared__ float wave_sums[256 / WAVEFRONT];
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    const int total = gridDim.x * blockDim.x;
    const int quads = n >> 2;
    const float4* x4 = reinterpret_cast<const float4*>(x);
    float4 acc = make_float4(0.f, 0.f, 0.f, 0.f);
    for (int q = id; q < quads; q += total) {
        const float4 v = x4[q];
        acc.x += v.x;
        acc.y += v.y;
        acc.z += v.z;
        acc.w += v.w;
    }
    float sum = (acc.x + acc.y) + (acc.z + acc.w);
    if (id < (n & 3)) sum += x[(quads << 2) + id];
#pragma unroll
    for (int d = WAVEFRONT >> 1; d; d >>= 1) sum += __shfl_down(sum, d);
    if ((threadIdx.x & (WAVEFRONT - 1)) == 0) wave_sums[threadIdx.x / WAVEFRONT] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll
        for (int w = 1; w < 256 / WAVEFRONT; ++w) sum += wave_sums[w];
        atomicAdd(out, sum);
    }
}
