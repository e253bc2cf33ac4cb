__global__ void k(const unsigned* x, unsigned* y, int n) {
    __shared__ unsigned count, step;
    __shared__ int more;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = x[i];
    if (threadIdx.x == 0) { count = 0; step = x[0] % 3; more = 1; }
    __syncthreads();
    while (more) {
        atomicAdd(&count, v % 5);
        __syncthreads();
        if (threadIdx.x == 0) more = count < 900;
        const unsigned now = count;
        v += now;
        __syncthreads();
        if (now % 11 == 5) break;
        if (now % 2) continue;
        v ^= 3;
    }
    switch (step) {
        case 0: v += __syncthreads_count(v % 2); break;
        case 1:
        case 2: __syncthreads(); v += 100; break;
        default: v = 0;
    }
    if (__syncthreads_or(v % 51 == 0)) v += 4;
    if (__syncthreads_and(v > 0)) v += 8;
    for (int t = threadIdx.x; t < 96 * 3 + threadIdx.x; t += blockDim.x) {
        __syncthreads();
        v += t;
    }
    y[i] = v;
}
