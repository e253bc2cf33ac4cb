/*---
launches:
  - {kernel: largest, grid: [R], block: [64], args: [x, y, C]}
---*/
template <typename Step>
__device__ void halve(int size, Step step) {
    for (int half = size / 2; half > 0; half /= 2) step(half);
}

__global__ void largest(const float* x, float* y, int cols) {
    __shared__ float part[64];
    float most = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 64) most = fmaxf(most, fabsf(x[blockIdx.x * cols + c]));
    part[threadIdx.x] = most;
    __syncthreads();
    halve(64, [&](int half) {
        if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
        __syncthreads();
    });
    if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
