/*---
launches:
  - kernel: chunk_stats
    grid: [R, "ceil_div(C, CHUNK)"]
    block: [64]
    args: [x, stats, C]
  - kernel: write_rows
    grid: [R, "ceil_div(C, CHUNK)"]
    block: [64]
    args: [x, y, stats, C]
scratch: {stats: "8 * R * ceil_div(C, CHUNK)"}
params: {CHUNK: 1024}
space: {CHUNK: [256, 1024, 4096]}
---*/
// Long rows are cut into chunks, so that few rows fill many compute units; each chunk leaves its
// largest element and sum, and every block joins those of its row anew.
__device__ float2 join(float2 p, float2 q) {
    const float m = fmaxf(p.x, q.x);
    return make_float2(m, p.y * expf(p.x - m) + q.y * expf(q.x - m));
}

__global__ void chunk_stats(const float* __restrict__ x, float2* __restrict__ stats, int C) {
    __shared__ float2 lds[64];
    const size_t row = blockIdx.x;
    const int first = blockIdx.y * CHUNK, last = min(first + CHUNK, C);
    float m = -3.402823466e+38f;
    for (int i = first + threadIdx.x; i < last; i += 64) m = fmaxf(m, x[row * C + i]);
    float s = 0.0f;
    for (int i = first + threadIdx.x; i < last; i += 64) s += expf(x[row * C + i] - m);
    lds[threadIdx.x] = make_float2(m, s);
    __syncthreads();
    for (int stride = 32; stride; stride >>= 1) {
        if (threadIdx.x < stride) {
            lds[threadIdx.x] = join(lds[threadIdx.x], lds[threadIdx.x + stride]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) stats[row * gridDim.y + blockIdx.y] = lds[0];
}

__global__ void write_rows(const float* __restrict__ x, float* __restrict__ y,
                           const float2* __restrict__ stats, int C) {
    const size_t row = blockIdx.x;
    float2 total = stats[row * gridDim.y];
    for (unsigned i = 1; i < gridDim.y; ++i) total = join(total, stats[row * gridDim.y + i]);
    const int first = blockIdx.y * CHUNK, last = min(first + CHUNK, C);
    for (int i = first + threadIdx.x; i < last; i += 64) {
        y[row * C + i] = expf(x[row * C + i] - total.x) / total.y;
    }
}
