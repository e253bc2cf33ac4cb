/*---
launches:
  - kernel: transpose_bits
    grid: ["ceil_div(R, 32)", "ceil_div(C, 32)"]
    block: [32, 4]
    args: [x, y, R, C]
---*/
// The elements as unsigned integers, so that not a bit can change; x runs over y's rows.
__global__ void transpose_bits(const unsigned* __restrict__ x, unsigned* __restrict__ y, int R,
                               int C) {
    __shared__ unsigned lds[32][33];
    const int r0 = blockIdx.x * 32, c0 = blockIdx.y * 32;
    const int tx = threadIdx.x;
    for (int ty = threadIdx.y; ty < 32; ty += 4) {
        const int r = r0 + ty, c = c0 + tx;
        if (r < R && c < C) lds[tx][ty] = x[(unsigned long long)r * C + c];
    }
    __syncthreads();
    for (int ty = threadIdx.y; ty < 32; ty += 4) {
        const int c = c0 + ty, r = r0 + tx;
        if (r < R && c < C) y[(unsigned long long)c * R + r] = lds[ty][tx];
    }
}
