/*---
launches:
  - kernel: transpose_divide
    grid: ["ceil_div(R * C, 256)"]
    block: [256]
    args: [x, y, R, C, {value: "R * C", type: int32}, {value: "log2_ceil(R)", type: int32}]
---*/
// Flat indices divided by multiplication with a 64-bit reciprocal.
__global__ void transpose_divide(const float* x, float* y, int R, int C, int size, int log2_rows) {
    const unsigned i = blockIdx.x * 256u + threadIdx.x;
    if (i >= (unsigned)size) return;
    unsigned c, r;
    if (R == 1 << log2_rows) {
        c = i >> log2_rows;
        r = i & (R - 1);
    } else {
        const unsigned long long reciprocal = ~0ull / (unsigned)R + 1;
        c = (unsigned)__umul64hi(reciprocal, i);
        r = i - c * R;
    }
    y[i] = x[(size_t)r * C + c];
}
