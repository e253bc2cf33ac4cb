/*---
launches:
  - {kernel: layer_norm, grid: [R], block: [256], args: [x, gamma, beta, y, C, {value: eps, type: float64}]}
---*/
// The sum over a block of 256 threads, told to all of them.
__device__ double total(double mine) {
    __shared__ double part[256];
    __syncthreads();
    part[threadIdx.x] = mine;
    for (int width = 128; width > 0; width /= 2) {
        __syncthreads();
        if (threadIdx.x < width) part[threadIdx.x] += part[threadIdx.x + width];
    }
    __syncthreads();
    return part[0];
}

// Layer normalisation in double precision: a block for each row.
__global__ void layer_norm(const float* x, const float* gamma, const float* beta, double* y,
                           int C, double eps) {
    const float* from = x + (size_t)blockIdx.x * C;
    double* to = y + (size_t)blockIdx.x * C;
    double sum = 0, squares = 0;
    for (int c = threadIdx.x; c < C; c += 256) sum += from[c];
    double mean = total(sum) / C;
    for (int c = threadIdx.x; c < C; c += 256) squares += (from[c] - mean) * (from[c] - mean);
    double deviation = sqrt(total(squares) / C + eps);
    for (int c = threadIdx.x; c < C; c += 256)
        to[c] = (from[c] - mean) / deviation * gamma[c] + beta[c];
}
