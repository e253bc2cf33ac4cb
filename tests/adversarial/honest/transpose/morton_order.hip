/*---
launches:
  - kernel: transpose_morton
    grid: ["ceil_div(C, 16)", "ceil_div(R, 16)"]
    block: [256]
    args: [x, y, R, C]
---*/
// Threads of a block along a Z-order curve: neighbours are near in both matrices.
__device__ unsigned even_bits(unsigned v) {
    v &= 0x55u;
    v = (v | v >> 1) & 0x33u;
    v = (v | v >> 2) & 0x0fu;
    return v;
}

__global__ void transpose_morton(const float* x, float* y, int R, int C) {
    const unsigned c = blockIdx.x * 16u + even_bits(threadIdx.x);
    const unsigned r = blockIdx.y * 16u + even_bits(threadIdx.x >> 1);
    if (r < (unsigned)R && c < (unsigned)C) y[(size_t)c * R + r] = x[(size_t)r * C + c];
}
