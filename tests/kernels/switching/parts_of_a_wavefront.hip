__device__ auto neighbours(int v) { return __shfl_up(v, 1) + __shfl_down(v, 1); }
__global__ void k(const int* x, int* y, int n) {
    const int t = threadIdx.x;
    int v = x[t];
    if (t % 3 == 0)
        v = neighbours(v);
    else if (t % 3 == 1)
        v -= __popcll(__ballot(v & 1));
    for (int i = 0; i < t % 4; ++i) v += neighbours(v);
    if (t >= 90) return;
    if (const int early = __syncthreads_count(v & 1)) v += early;
    y[blockIdx.x * 96 + t] = v;
}
