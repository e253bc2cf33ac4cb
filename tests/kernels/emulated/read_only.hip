// Squares. Planted: the input is overwritten on the way.
extern "C" __global__ void read_only(float* x, float* y) {
    float square = x[threadIdx.x] * x[threadIdx.x];
#ifdef PLANTED
    x[threadIdx.x] = square;
#endif
    y[threadIdx.x] = square;
}
