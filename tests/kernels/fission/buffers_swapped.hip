__global__ void k(const unsigned* x, unsigned* y, int n) {
    __shared__ unsigned memory[2][96];
    unsigned* from = memory[0];
    unsigned* to = memory[1];
    const int t = threadIdx.x;
    x += blockIdx.x * blockDim.x;
    y += blockIdx.x * blockDim.x + threadIdx.x;
    from[t] = x[t];
    int turn = 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        to[t] = t >= d ? from[t] + from[t - d] : from[t];
        unsigned* swapped = from;
        from = to;
        to = swapped;
        turn ^= 1;
        __syncthreads();
    }
    n += from[t];
    __syncthreads();
    *y = from[t] + memory[turn][95 - t] + n;
}
