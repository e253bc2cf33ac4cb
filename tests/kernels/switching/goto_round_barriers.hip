__global__ void k(const int* x, int* y, int n) {
    __shared__ int s[96];
    const int t = threadIdx.x;
    int left = 3;
    s[t] = x[t];
again:
    __syncthreads();
    const int v = s[95 - t];
    __syncthreads();
    s[t] = v + t;
    if (--left) goto again;
    y[blockIdx.x * 96 + t] = s[t];
}
