/*---
launches:
  - kernel: sum_double
    grid: [GRID]
    block: [256]
    args: [x, parts, {value: "N", type: int64}]
  - kernel: finish
    grid: [1]
    block: [64]
    args: [parts, out]
scratch: {parts: "8 * GRID"}
params: {GRID: 256}
---*/
// Double from the first addition to the last.
__global__ void sum_double(const float* x, double* parts, long long n) {
    __shared__ double s[256];
    double sum = 0.0;
    for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < n; i += 256ll * gridDim.x)
        sum += x[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if ((int)threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = s[0];
}

__global__ void finish(const double* parts, float* out) {
    __shared__ double s[64];
    double sum = 0.0;
    for (int i = threadIdx.x; i < GRID; i += 64) sum += parts[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 64; ++i) sum += s[i];
        *out = (float)sum;
    }
}
