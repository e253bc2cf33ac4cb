// A barrier of one's own: the last to arrive bumps the round that others wait for. Planted: one of
// the two in a loop is missing.
__device__ void meet(int* arrived, volatile int* round) {
    __threadfence_block();
    __builtin_amdgcn_wave_barrier();
    if (threadIdx.x % 64 == 0) {
        const int now = *round;
        if (atomicAdd(arrived, 1) == 3) {
            *(volatile int*)arrived = 0;
            __threadfence_block();
            *round = now + 1;
        } else {
            while (*round == now) {}
        }
    }
    __threadfence_block();
    __builtin_amdgcn_wave_barrier();
}

extern "C" __global__ void own_barrier(const int* x, int* y) {
    __shared__ int arrived, tile[256];
    __shared__ volatile int round;
    const int t = threadIdx.x;
    if (t == 0) arrived = round = 0;
    __syncthreads();
    int mine = x[t];
    for (int i = 0; i < 4; ++i) {
        tile[t] = mine + i;
        meet(&arrived, &round);
        mine += tile[255 - t];
#ifndef PLANTED
        meet(&arrived, &round);
#endif
    }
    y[t] = mine;
}
