/*---
launches:
  - kernel: softmax_kernel
    grid: [R]
    block: [BLOCK]
    args: [x, y, R, C]
params: {BLOCK: 256}
space: {BLOCK: [64, 128, 256, 512]}
---*/
// A block a row: largest element, sum, division; each joined by a tree in LDS.
__global__ void softmax_kernel(const float* input, float* output, int R, int C) {
    __shared__ float sdata[BLOCK];
    int tid = threadIdx.x;
    const float* row = input + (size_t)blockIdx.x * C;
    float* out = output + (size_t)blockIdx.x * C;

    float max_val = -3.402823466e+38f;
    for (int i = tid; i < C; i += BLOCK) max_val = fmaxf(max_val, row[i]);
    sdata[tid] = max_val;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] = fmaxf(sdata[tid], sdata[tid + s]);
        __syncthreads();
    }
    max_val = sdata[0];
    __syncthreads();

    float sum = 0.0f;
    for (int i = tid; i < C; i += BLOCK) sum += expf(row[i] - max_val);
    sdata[tid] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    sum = sdata[0];

    for (int i = tid; i < C; i += BLOCK) out[i] = expf(row[i] - max_val) / sum;
}
