/*---
launches:
  - {kernel: softmax, grid: [R], block: [256], args: [x, y, C]}
---*/
// y[r] = exp(x[r] - max) / sum in double precision: a block for each row.
__global__ void softmax(const float* x, double* y, int C) {
    __shared__ double part[256];
    const float* from = x + (size_t)blockIdx.x * C;
    double* to = y + (size_t)blockIdx.x * C;
    double largest = from[0];
    for (int c = threadIdx.x; c < C; c += 256) largest = fmax(largest, (double)from[c]);
    part[threadIdx.x] = largest;
    for (int width = 128; width > 0; width /= 2) {
        __syncthreads();
        if (threadIdx.x < width)
            part[threadIdx.x] = fmax(part[threadIdx.x], part[threadIdx.x + width]);
    }
    __syncthreads();
    largest = part[0];
    __syncthreads();
    double sum = 0;
    for (int c = threadIdx.x; c < C; c += 256) {
        to[c] = exp(from[c] - largest);
        sum += to[c];
    }
    part[threadIdx.x] = sum;
    for (int width = 128; width > 0; width /= 2) {
        __syncthreads();
        if (threadIdx.x < width) part[threadIdx.x] += part[threadIdx.x + width];
    }
    __syncthreads();
    for (int c = threadIdx.x; c < C; c += 256) to[c] /= part[0];
}
