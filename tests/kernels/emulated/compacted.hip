// Odd numbers, and how many: whoever takes a place knows of those who took one before, and of
// nothing else. Planted: no barrier before they are read; or before their number is.
extern "C" __global__ void compacted(const int* x, int* y) {
    __shared__ int count, kept[256];
    const int t = threadIdx.x;
    if (t == 0) count = 0;
    __syncthreads();
    if (x[t] & 1) kept[atomicAdd(&count, 1)] = x[t];
#ifndef PLANTED
    __syncthreads();
    const int found = count;
#elif PLANTED == 1
    const int found = 100;
#else
    const int found = count;
#endif
    int sum = 0;
#if PLANTED != 2
    for (int i = 0; i < found; ++i) sum += kept[i];
#endif
    y[t] = sum + found;
}
