// Sums of wavefronts by shuffles that name their lanes. Planted: only some of the lanes named are
// active, for the bound stands round the shuffles.
extern "C" __global__ void shuffle_mask(const float* x, float* sums, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float value = 0;
#ifdef PLANTED
    if (i < n) {
        value = x[i];
        for (int offset = 32; offset > 0; offset /= 2)
            value += __shfl_down_sync(~0ull, value, offset);
    }
#else
    if (i < n) value = x[i];
    for (int offset = 32; offset > 0; offset /= 2)
        value += __shfl_down_sync(~0ull, value, offset);
#endif
    if (threadIdx.x == 0) sums[blockIdx.x] = value;
}
