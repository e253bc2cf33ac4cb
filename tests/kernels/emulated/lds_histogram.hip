// Counts in LDS, by atomic additions. Planted: no barrier behind the zeros; none before the counts
// are read; a fence, which waits for nobody, in its place; or no atomic operation.
extern "C" __global__ void lds_histogram(const int* x, int* y, int n) {
    __shared__ int counts[64];
    const int t = threadIdx.x;
    if (t < 64) counts[t] = 0;
#if PLANTED != 1
    __syncthreads();
#endif
    for (int i = t; i < n; i += blockDim.x) {
#if PLANTED == 4
        ++counts[x[i]];
#else
        atomicAdd(&counts[x[i]], 1);
#endif
    }
#if PLANTED == 3
    __threadfence_block();
#elif PLANTED != 2
    __syncthreads();
#endif
    const int last = blockDim.x - 64;
    if (t >= last) y[t - last] = counts[t - last];
}
