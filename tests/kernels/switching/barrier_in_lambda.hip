__global__ void k(const int* x, int* y, int n) {
    __shared__ int s[96];
    auto reversed = [&](int v) {
        s[threadIdx.x] = v;
        __syncthreads();
        const int found = s[95 - threadIdx.x];
        __syncthreads();
        return found;
    };
    y[blockIdx.x * 96 + threadIdx.x] = reversed(x[threadIdx.x]) + reversed(n);
}
