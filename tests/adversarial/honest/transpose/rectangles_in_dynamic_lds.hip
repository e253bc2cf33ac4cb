/*---
launches:
  - kernel: transpose_rect
    grid: ["ceil_div(C, WIDE)", "ceil_div(R, HIGH)"]
    block: [THREADS]
    lds_bytes: "4 * WIDE * (HIGH + 1)"
    args: [x, y, R, C]
params: {WIDE: 64, HIGH: 32, THREADS: 256}
space: {WIDE: [16, 32, 64], HIGH: [16, 32, 64], THREADS: [64, 128, 256]}
variants: [{when: "C < 32", params: {WIDE: 16, HIGH: 64}}]
---*/
// Tiles need not be square; one index runs over a tile.
__global__ void transpose_rect(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    extern __shared__ float lds[];
    const int r0 = blockIdx.y * HIGH, c0 = blockIdx.x * WIDE;
    const int h = min(HIGH, R - r0), w = min(WIDE, C - c0);
    for (int i = threadIdx.x; i < WIDE * HIGH; i += THREADS) {
        const int r = i / WIDE, c = i % WIDE;
        if (r < h && c < w) lds[c * (HIGH + 1) + r] = x[(size_t)(r0 + r) * C + (c0 + c)];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < WIDE * HIGH; i += THREADS) {
        const int c = i / HIGH, r = i % HIGH;
        if (r < h && c < w) y[(size_t)(c0 + c) * R + (r0 + r)] = lds[c * (HIGH + 1) + r];
    }
}
