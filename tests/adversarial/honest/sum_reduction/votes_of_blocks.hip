/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: until_none_left
    grid: [64]
    block: [256]
    args: [x, out, N]
---*/
// Blocks go on until a vote of all threads finds none with elements left.
#define SYNC() do { __syncthreads(); } while (0)

__global__ void until_none_left(const float* x, float* out, int n) {
    __shared__ float lds[256], total;
    if (threadIdx.x == 0) total = 0.0f;
    int i = blockIdx.x * 256 + threadIdx.x;
    while (true) {
        const bool mine = i < n;
        lds[threadIdx.x] = mine ? x[i] : 0.0f;
        if (!__syncthreads_or(mine)) break;
        for (int half = 128; half > 0; half >>= 1) {
            if (threadIdx.x < half) lds[threadIdx.x] += lds[threadIdx.x + half];
            SYNC();
        }
        if (threadIdx.x == 0) total += lds[0];
        SYNC();
        i += gridDim.x * 256;
    }
    if (threadIdx.x == 0) atomicAdd(out, total);
}
