// Each value less the first, which one thread tells the others. Planted: no barrier before they
// read it, though wavefronts in order would find it there.
extern "C" __global__ void broadcast(const float* x, float* y) {
    __shared__ float first;
    if (threadIdx.x == 0) first = x[0];
#ifndef PLANTED
    __syncthreads();
#endif
    y[threadIdx.x] = x[threadIdx.x] - first;
}
