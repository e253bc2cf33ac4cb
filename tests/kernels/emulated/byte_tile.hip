// Bytes handed on twice through LDS. Planted: a barrier is missing, the first, second or third.
extern "C" __global__ void byte_tile(const unsigned char* x, unsigned char* y) {
    __shared__ unsigned char tile[256];
    const int t = threadIdx.x;
    tile[t] = x[t];
#if PLANTED != 1
    __syncthreads();
#endif
    const unsigned char other = tile[t ^ 64];
#if PLANTED != 2
    __syncthreads();
#endif
    tile[t] = other + 1;
#if PLANTED != 3
    __syncthreads();
#endif
    y[t] = tile[255 - t];
}
