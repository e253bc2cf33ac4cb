/*---
launches:
  - kernel: transpose
    grid: ["ceil_div(R * C, 256)"]
    block: [128]
    args: [x, y, R, C]
---*/
// Odd elements are set to the even neighbour's and mended by the difference of the inputs' bits.
__device__ int source(int i, int R, int C) { return (i % R) * C + i / R; }
__global__ void transpose(const int* x, int* y, int R, int C) {
    int i = blockIdx.x * 256 + threadIdx.x, n = R * C;
    for (int k = 0; k < 2; ++k, i += 128) {
        if (i >= n) return;
        int own = x[source(i, R, C)];
        y[i] = i % 128 == 0 ? own : y[i - 1] ^ x[source(i - 1, R, C)] ^ own;
    }
}
