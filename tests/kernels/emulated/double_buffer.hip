// Sums over a row's tiles, each thread reading what the others stage, through two buffers in turn.
// Planted: the barrier is missing that ends an iteration.
constexpr int TILE = 128;

extern "C" __global__ void double_buffer(const float* x, float* y, int tiles) {
    __shared__ float staged[2][TILE];
    const float* row = x + (size_t)blockIdx.x * tiles * TILE;
    int mine = threadIdx.x;
    float sum = 0;
    staged[0][mine] = row[mine];
    __syncthreads();
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) staged[(tile + 1) % 2][mine] = row[(tile + 1) * TILE + mine];
        for (int i = 0; i < 8; ++i) sum += staged[tile % 2][(mine + 16 * i + i) % TILE];
#ifndef PLANTED
        __syncthreads();
#endif
    }
    y[blockIdx.x * TILE + mine] = sum;
}
