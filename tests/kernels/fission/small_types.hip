__global__ void k(const unsigned* x, unsigned* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char small = (unsigned char)x[i];
    bool odd = x[i] % 2;
    double wide = x[i] * 0.5;
    long long large = (long long)x[i] << 33;
    float f = x[i];
    int sum = __shfl(small, 3) + __shfl_up(odd, 1) + (int)__shfl_xor(wide, 2);
    if (threadIdx.x < 40) {
        sum += (int)(__shfl_down(large, 1) >> 33);
        f += __shfl_down(f, 16);
        wide += __shfl(__shfl(wide, 5), 2);
    }
    __syncwarp();
    y[i] = sum + (unsigned)f * 3 + (unsigned)wide + __shfl_sync(__activemask(), small, 1) + odd;
}
