/*---
launches:
  - kernel: softmax_persistent
    grid: ["min(R, BLOCKS)"]
    block: [128]
    args: [x, y, R, C]
params: {BLOCKS: 96}
space: {BLOCKS: [1, 96, 304]}
---*/
// A fixed number of blocks; each goes from row to row, and starts over with the same LDS.
__global__ void softmax_persistent(const float* x, float* y, int R, int C) {
    __shared__ float buffer[128];
    __shared__ float row_max, row_sum;
    for (int row = blockIdx.x; row < R; row += gridDim.x) {
        const float* in = x + (size_t)row * C;
        float* out = y + (size_t)row * C;
        float m = in[0];
        for (int c = threadIdx.x; c < C; c += 128) m = fmaxf(m, in[c]);
        buffer[threadIdx.x] = m;
        __syncthreads();
        if (threadIdx.x == 0) {
            float best = buffer[0];
            for (int i = 1; i < 128; ++i) best = fmaxf(best, buffer[i]);
            row_max = best;
        }
        __syncthreads();
        m = row_max;
        float s = 0.0f;
        for (int c = threadIdx.x; c < C; c += 128) s += expf(in[c] - m);
        buffer[threadIdx.x] = s;
        __syncthreads();
        if (threadIdx.x == 0) {
            float total = 0.0f;
            for (int i = 0; i < 128; ++i) total += buffer[i];
            row_sum = total;
        }
        __syncthreads();
        for (int c = threadIdx.x; c < C; c += 128) out[c] = expf(in[c] - m) / row_sum;
        __syncthreads();
    }
}
