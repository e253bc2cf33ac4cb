// What lanes of a wavefront tell each other: shuffles, ballots, DPP, the LDS crossbar.
template <typename T, int WIDTH> __global__ void shuffles(const T *x, T *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 63;
    const T v = x[i];
    y[4 * i] = __shfl(v, lane + 3, WIDTH);
    y[4 * i + 1] = __shfl_up(v, 1, WIDTH);
    y[4 * i + 2] = __shfl_down(v, 1, WIDTH);
    y[4 * i + 3] = __shfl_xor(v, 1, WIDTH);
}

template <int CONTROL, int ROWS = 15, int BANKS = 15> __device__ int moved(int v) {
    return __builtin_amdgcn_update_dpp(0, v, CONTROL, ROWS, BANKS, false);
}

// A wavefront's prefix sums of flags say where each element goes; also of part of a wavefront.
__global__ void compact_by_dpp(const int *x, int *y) {
    const int mine = x[threadIdx.x];
    const int flag = mine & 1;
    int sum = flag;
    sum += moved<0x111>(sum); // row_shr
    sum += moved<0x112>(sum);
    sum += moved<0x114>(sum);
    sum += moved<0x118>(sum);
    sum += moved<0x142, 10>(sum); // row_bcast:15
    sum += moved<0x143, 12>(sum); // row_bcast:31
    if (flag) y[sum - 1] = mine;
}

__global__ void match_by_ballots(const int *x, unsigned long long *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, key = x[i] & 7;
    unsigned long long same = ~0ull;
    for (int bit = 0; bit < 3; ++bit) {
        const bool set = key >> bit & 1;
        const unsigned long long who = __ballot(set);
        same &= set ? who : ~who;
    }
    y[i] = same;
}

// One round for each key that is left.
__global__ void count_by_waterfall(const int *x, int *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, key = x[i] & 7;
    for (;;) {
        const int first = __builtin_amdgcn_readfirstlane(key);
        const unsigned long long same = __ballot(key == first);
        if (key == first) {
            y[i] = __popcll(same);
            break;
        }
    }
}

// Wavefronts that are not there have no partial sum: the compiler reads all 16 all the same.
__global__ __launch_bounds__(1024) void block_sum(const int *x, int *y) {
    __shared__ int parts[16];
    const int t = threadIdx.x, lane = t & 63, waves = (blockDim.x + 63) / 64;
    int v = x[blockIdx.x * blockDim.x + t];
    for (int by = 32; by; by >>= 1) {
        const int other = __shfl_down(v, by);
        if (lane + by < 64 && t + by < blockDim.x) v += other;
    }
    if (lane == 0) parts[t >> 6] = v;
    __syncthreads();
    int sum = 0;
#pragma unroll
    for (int wave = 0; wave < 16; ++wave) sum += wave < waves ? parts[wave] : 0;
    if (t == 0) y[blockIdx.x] = sum;
}
