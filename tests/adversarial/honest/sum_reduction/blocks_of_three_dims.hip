/*---
launches:
  - kernel: cube_sum
    grid: [4, 4, 4]
    block: [8, 8, 4]
    args: [x, cubes, N]
  - kernel: plane_sum
    grid: [1]
    block: [64]
    args: [cubes, out]
scratch: {cubes: "4 * 64"}
---*/
// Three dimensions of blocks and threads, flattened by hand.
__device__ unsigned flat(dim3 at, dim3 extent) {
    return (at.z * extent.y + at.y) * extent.x + at.x;
}

__global__ void cube_sum(const float* x, float* cubes, int n) {
    __shared__ float s[4][8][8];
    const unsigned block = flat(dim3(blockIdx.x, blockIdx.y, blockIdx.z), dim3(4, 4, 4));
    const unsigned thread = flat(dim3(threadIdx.x, threadIdx.y, threadIdx.z), dim3(8, 8, 4));
    float sum = 0.0f;
    for (unsigned i = block * 256u + thread; i < (unsigned)n; i += 64u * 256u) sum += x[i];
    s[threadIdx.z][threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.z == 0) {
        for (int z = 1; z < 4; ++z) sum += s[z][threadIdx.y][threadIdx.x];
        s[0][threadIdx.y][threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.z == 0 && threadIdx.y == 0) {
        for (int y = 1; y < 8; ++y) sum += s[0][y][threadIdx.x];
        s[0][0][threadIdx.x] = sum;
    }
    __syncthreads();
    if (thread == 0) {
        for (int i = 1; i < 8; ++i) sum += s[0][0][i];
        cubes[block] = sum;
    }
}

__global__ void plane_sum(const float* cubes, float* out) {
    __shared__ float s[64];
    s[threadIdx.x] = cubes[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int i = 0; i < 64; ++i) sum += s[i];
        out[0] = sum;
    }
}
