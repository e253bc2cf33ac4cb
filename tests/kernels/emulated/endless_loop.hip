// Waits until a flag is set. Planted: nobody sets it.
extern "C" __global__ void endless_loop(volatile int* flag, int* y) {
#ifndef PLANTED
    if (threadIdx.x == 0) *flag = 1;
#endif
    while (*flag == 0) {}
    y[threadIdx.x] = 7;
}
