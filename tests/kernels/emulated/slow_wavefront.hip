// What one wavefront takes long to find, while the others wait for it and end before it does.
// Planted: they don't wait.
extern "C" __global__ void slow_wavefront(const float* x, float* y, int steps) {
    __shared__ float found;
    float value = x[threadIdx.x];
    if (threadIdx.x == 128) {
        for (int i = 0; i < steps; ++i) value = value * 0.5f + x[i % 64];
        found = value;
    }
#ifndef PLANTED
    __syncthreads();
#endif
    value = found;
    if (threadIdx.x < 64)
        for (int i = 0; i < steps; ++i) value = value * 0.5f + x[i % 64];
    y[threadIdx.x] = value;
}
