/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: quick_sum
    grid: ["min(ceil_div(N, BLOCK * LANES), 2048)"]
    block: [BLOCK]
    args: [x, out, N]
params: {BLOCK: 64, LANES: 8}
space: {BLOCK: [64, 128, 256], LANES: [1, 4, 8]}
options: ["-ffast-math", "-funroll-loops"]
---*/
// LANES sums a thread; the compiler may join them in any order.
__global__ void quick_sum(const float* __restrict__ x, float* __restrict__ out, int n) {
    __shared__ float lds[BLOCK];
    float acc[LANES] = {};
    const int chunk = BLOCK * LANES;
    int base = blockIdx.x * chunk;
    for (; base + chunk <= n; base += gridDim.x * chunk) {
#pragma unroll
        for (int l = 0; l < LANES; ++l) acc[l] += x[base + l * BLOCK + threadIdx.x];
    }
    for (int i = base + threadIdx.x; i < min(n, base + chunk); i += BLOCK) acc[0] += x[i];
    float sum = 0;
#pragma unroll
    for (int l = 0; l < LANES; ++l) sum += acc[l];
    lds[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < 8) {
        sum = 0;
        for (int i = threadIdx.x; i < BLOCK; i += 8) sum += lds[i];
        atomicAdd(out, sum);
    }
}
