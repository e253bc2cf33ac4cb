__global__ void k(const unsigned* x, unsigned* y, int n) {
    __shared__ unsigned s[96];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = 1;
    if (x[i] % 5 == 0) return;
    s[threadIdx.x] = x[i];
    __syncthreads();
    unsigned sum = 0;
    for (int t = 0; t < 96; ++t) {
        sum += s[t];
        if (sum % 97 == 3) { y[i] = sum; return; }
    }
    __syncthreads();
    y[i] = sum + __shfl_down(sum, 3);
}
