/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: nested
    grid: ["min(ceil_div(N, 1024), 300)"]
    block: [64]
    args: [x, out, N]
---*/
// Shuffles deep in expressions: of sums, of doubles, of parts of a vector, after a comma.
__global__ void nested(const float* x, float* out, int n) {
    __shared__ float parts[64 / WAVEFRONT][2];
    float2 v = make_float2(0.0f, 0.0f);
    const int step = 2 * 64 * gridDim.x;
    for (int i = 2 * (blockIdx.x * 64 + threadIdx.x); i < n; i += step) {
        v.x += x[i], v.y += i + 1 < n ? x[i + 1] : 0.0f;
    }
    v.x += __shfl_xor(v.x, 1) + (v.y + __shfl_xor(v.y, 1));
    double wide = (double)v.x;
    for (int d = 2; d < WAVEFRONT; d <<= 1) wide = wide + __shfl_xor(wide, d);
    const int lane = threadIdx.x % WAVEFRONT, wave = threadIdx.x / WAVEFRONT;
    if (lane == 0) parts[wave][0] = (float)wide, parts[wave][1] = (float)(wide - (float)wide);
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f, rest = 0.0f;
        for (int w = 0; w < 64 / WAVEFRONT; ++w) sum += parts[w][0], rest += parts[w][1];
        atomicAdd(out, sum + rest);
    }
}
