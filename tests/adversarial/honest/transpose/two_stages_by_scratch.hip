/*---
launches:
  - kernel: gather_bands
    grid: ["ceil_div(C, BAND)", R]
    block: [BAND]
    args: [x, bands, R, C]
  - kernel: turn_bands
    grid: ["ceil_div(C, BAND)", "ceil_div(R, 64)"]
    block: [64]
    args: [bands, y, R, C]
scratch: {bands: "4 * R * align_up(C, BAND)"}
params: {BAND: 64}
space: {BAND: [32, 64, 128]}
---*/
// First the bands of BAND columns are made contiguous, then each is turned on its own.
__global__ void gather_bands(const float* x, float* bands, int R, int C) {
    const int c = blockIdx.x * BAND + threadIdx.x;
    const size_t r = blockIdx.y;
    bands[((size_t)blockIdx.x * R + r) * BAND + threadIdx.x] = c < C ? x[r * C + c] : 0.0f;
}

__global__ void turn_bands(const float* bands, float* y, int R, int C) {
    const int r = blockIdx.y * 64 + threadIdx.x;
    if (r >= R) return;
    const float* row = bands + ((size_t)blockIdx.x * R + r) * BAND;
    const int c0 = blockIdx.x * BAND;
    for (int i = 0; i < BAND && c0 + i < C; ++i) y[(size_t)(c0 + i) * R + r] = row[i];
}
