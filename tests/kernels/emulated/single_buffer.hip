// Sums over a row's tiles, each thread reading what the others stage. Planted: the second barrier
// is missing, which keeps a tile until all have read it.
constexpr int TILE = 128;

extern "C" __global__ void single_buffer(const float* x, float* y, int tiles) {
    __shared__ float staged[TILE];
    const float* row = x + (size_t)blockIdx.x * tiles * TILE;
    int mine = threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        staged[mine] = row[tile * TILE + mine];
        __syncthreads();
        for (int i = 0; i < 8; ++i) sum += staged[(mine + 16 * i + i) % TILE];
#ifndef PLANTED
        __syncthreads();
#endif
    }
    y[blockIdx.x * TILE + mine] = sum;
}
