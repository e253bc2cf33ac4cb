/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: vector_sum
    grid: ["min(ceil_div(N, 1024), 512)"]
    block: [1024]
    args: [x, out, {value: "N", type: int64}]
---*/
// size_t everywhere, and a three-level reduction through two arrays in LDS.
__global__ void vector_sum(const float* x, float* out, long long n) {
    __shared__ float fine[1024];
    __shared__ float coarse[32];
    const size_t size = static_cast<size_t>(n);
    const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    float sum = 0.0f;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size;
         i += stride) {
        sum += x[i];
    }
    fine[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        float s = 0.0f;
        for (int i = 0; i < 32; ++i) s += fine[threadIdx.x + 32 * i];
        coarse[threadIdx.x] = s;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float s = 0.0f;
        for (float v : coarse) s += v;
        atomicAdd(out, s);
    }
}
