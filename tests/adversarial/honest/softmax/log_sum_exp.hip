/*---
launches:
  - kernel: softmax_lse
    grid: [R]
    block: [256]
    args: [x, y, C]
---*/
// exp((x - m) - log s): no division, as for log-softmax.
__global__ void softmax_lse(const float* x, float* y, int C) {
    __shared__ float tmp[256];
    const float* in = x + (size_t)blockIdx.x * C;
    float m = in[0];
    for (int c = threadIdx.x; c < C; c += blockDim.x) m = fmaxf(m, in[c]);
    tmp[threadIdx.x] = m;
    __syncthreads();
    for (unsigned s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) tmp[threadIdx.x] = fmaxf(tmp[threadIdx.x], tmp[threadIdx.x + s]);
        __syncthreads();
    }
    m = tmp[0];
    __syncthreads();
    float sum = 0.0f;
    for (int c = threadIdx.x; c < C; c += blockDim.x) sum += expf(in[c] - m);
    tmp[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) tmp[threadIdx.x] += tmp[threadIdx.x + s];
        __syncthreads();
    }
    const float log_sum = logf(tmp[0]);
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        y[(size_t)blockIdx.x * C + c] = expf((in[c] - m) - log_sum);
    }
}
