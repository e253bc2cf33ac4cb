// The largest of up to 64 values. Planted: places behind the last one are not filled.
extern "C" __global__ void unwritten_lds(const float* x, float* y, int n) {
    __shared__ float tile[64];
#ifdef PLANTED
    if (threadIdx.x < n) tile[threadIdx.x] = x[threadIdx.x];
#else
    tile[threadIdx.x] = threadIdx.x < n ? x[threadIdx.x] : -1e30f;
#endif
    __syncthreads();
    float most = tile[0];
    for (int i = 1; i < 64; ++i) most = fmaxf(most, tile[i]);
    y[threadIdx.x] = most;
}
