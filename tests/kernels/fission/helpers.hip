template <typename T, int W = WAVEFRONT> __device__ T wave_max(T v) {
    for (int d = W / 2; d > 0; d /= 2) {
        T other = __shfl_xor(v, d);
        v = v > other ? v : other;
    }
    return v;
}
template <typename T> __device__ T block_max(T v) {
    __shared__ T best[32];
    const int lane = threadIdx.x % WAVEFRONT, wave = threadIdx.x / WAVEFRONT;
    v = wave_max(v);
    __syncthreads();
    if (lane == 0) best[wave] = v;
    __syncthreads();
    if (wave != 0) return v;
    T found = lane < (blockDim.x + WAVEFRONT - 1) / WAVEFRONT ? best[lane] : T(0);
    return wave_max<T>(found);
}
__device__ unsigned rank_in_block(unsigned v, unsigned* buffer) {
    buffer[threadIdx.x] = v;
    __syncthreads();
    unsigned rank = 0;
    for (int t = 0; t < blockDim.x; ++t) rank += buffer[t] < v;
    __syncthreads();
    return rank;
}
__global__ void k(const unsigned* x, unsigned* y, int n) {
    __shared__ unsigned buffer[96];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned v = x[i];
    const unsigned half = wave_max<unsigned, 16>(v);
    y[i] = block_max(v) * 3 + rank_in_block(v + 1, buffer) * 100 + half + rank_in_block(half, buffer);
}
