// Differences of neighbours. Planted: the last thread's neighbour lies beyond the block's LDS.
extern "C" __global__ void lds_overrun(const float* x, float* y) {
    __shared__ float tile[128];
    int mine = threadIdx.x;
    tile[mine] = x[mine];
    __syncthreads();
#ifdef PLANTED
    int next = mine + 1;
#else
    int next = mine + 1 < 128 ? mine + 1 : mine;
#endif
    y[mine] = tile[next] - tile[mine];
}
