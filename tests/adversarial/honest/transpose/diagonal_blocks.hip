/*---
launches:
  - kernel: transposeDiagonal
    grid: ["ceil_div(C, 16)", "ceil_div(R, 16)"]
    block: [16, 16]
    args: [y, x, C, R]
---*/
// Blocks in diagonal order, from the days of partition camping.
__global__ void transposeDiagonal(float* odata, const float* idata, int width, int height) {
    __shared__ float tile[16][16 + 1];
    int blockIdx_x, blockIdx_y;
    if (gridDim.x == gridDim.y) {
        blockIdx_y = blockIdx.x;
        blockIdx_x = (blockIdx.x + blockIdx.y) % gridDim.x;
    } else {
        int bid = blockIdx.x + gridDim.x * blockIdx.y;
        blockIdx_y = bid % gridDim.y;
        blockIdx_x = ((bid / gridDim.y) + blockIdx_y) % gridDim.x;
    }
    int xIndex = blockIdx_x * 16 + threadIdx.x;
    int yIndex = blockIdx_y * 16 + threadIdx.y;
    if (xIndex < width && yIndex < height) {
        tile[threadIdx.y][threadIdx.x] = idata[xIndex + yIndex * width];
    }
    __syncthreads();
    xIndex = blockIdx_y * 16 + threadIdx.x;
    yIndex = blockIdx_x * 16 + threadIdx.y;
    if (xIndex < height && yIndex < width) {
        odata[xIndex + yIndex * height] = tile[threadIdx.x][threadIdx.y];
    }
}
