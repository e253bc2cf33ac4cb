// A sum over blocks. Planted: not atomic; or a flag is set before what it tells of.
extern "C" __global__ void lost_update(const int* x, int* y, volatile int* told, volatile int* flag) {
    int sum = x[blockIdx.x * 64 + threadIdx.x];
    for (int by = 32; by; by >>= 1) sum += __shfl_xor(sum, by);
    if (threadIdx.x) return;
#if PLANTED == 1
    *y += sum;
#else
    atomicAdd(y, sum);
#endif
    if (blockIdx.x == 0) {
#if PLANTED == 2
        *flag = 1;
        *told = sum;
#else
        *told = sum;
        __threadfence();
        *flag = 1;
#endif
    } else if (blockIdx.x == 1) {
        while (*flag == 0) {}
        __threadfence();
        y[1] = *told;
    }
}
