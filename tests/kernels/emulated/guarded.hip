// A look before an atomic maximum, and one before a compare-and-swap, are meant so. Planted: no
// barrier before what they made is read.
extern "C" __global__ void guarded(const int* x, int* y) {
    __shared__ int most[8], by_swap;
    const int t = threadIdx.x;
    if (t < 8) most[t] = -9999;
    if (t == 0) by_swap = -9999;
    __syncthreads();
    for (int i = t; i < 1024; i += 256)
        if (most[i % 8] < x[i]) atomicMax(&most[i % 8], x[i]);
#if PLANTED != 1
    __syncthreads();
#endif
    if (t < 8) y[t] = most[t];
    __syncthreads();
    int seen = by_swap;
    while (2 * seen < 2 * x[t]) {
        const int before = atomicCAS(&by_swap, seen, x[t]);
        if (before == seen) break;
        seen = before;
    }
#if PLANTED != 2
    __syncthreads();
#endif
    if (t < 8) y[8] = by_swap;
}
