__global__ void k(const int* x, int* y, int n) {
    volatile int v = x[threadIdx.x];
    __shared__ int s[96];
    s[threadIdx.x] = v;
    __syncthreads();
    volatile int* p = s;
    v = v + p[95 - threadIdx.x];
    y[blockIdx.x * 96 + threadIdx.x] = v;
}
