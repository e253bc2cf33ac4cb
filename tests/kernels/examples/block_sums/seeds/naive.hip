/*---
launches:
  - {kernel: block_sums, grid: ["ceil_div(N, 256)"], block: [256], args: [x, sums, N]}
---*/
__global__ void block_sums(const float* x, float* sums, int n) {
    __shared__ float s[256];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? x[i] * x[i] : 0.f;
    __syncthreads();
#pragma unroll
    for (int h = 128; h > 0; h >>= 1) {
        if (t < h) s[t] += s[t + h];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}
