// y += a x. Planted: no bound on the stores.
extern "C" __global__ void axpy(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * 128 + threadIdx.x;
    float value = i < n ? x[i] : 0;
#ifndef PLANTED
    if (i < n)
#endif
    y[i] = a * value + (i < n ? y[i] : 0);
}
