// y = x^T through a padded tile of LDS. Planted: no barrier between writing and reading the tile.
extern "C" __global__ void transpose_tile(const float* x, float* y, int rows, int cols) {
    __shared__ float tile[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (col < cols && row + j < rows)
            tile[threadIdx.y + j][threadIdx.x] = x[(row + j) * cols + col];
#ifndef PLANTED
    __syncthreads();
#endif
    col = blockIdx.y * 32 + threadIdx.x;
    row = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (col < rows && row + j < cols)
            y[(row + j) * rows + col] = tile[threadIdx.x][threadIdx.y + j];
}
