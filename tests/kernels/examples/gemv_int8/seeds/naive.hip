/*---
launches:
  - {kernel: gemv_q8, grid: [M], block: [128], args: [w, scale, x, y, K]}
---*/
__global__ void gemv_q8(const int8_t* w, const float* scale, const float* x, float* y, int k) {
    __shared__ float partial[128];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < k; i += blockDim.x) sum += (float)w[(size_t)blockIdx.x * k + i] * x[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = partial[0] * scale[blockIdx.x];
}
