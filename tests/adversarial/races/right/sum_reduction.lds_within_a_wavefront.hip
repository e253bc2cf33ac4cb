/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: within
    grid: ["min(ceil_div(N, 256), 64)"]
    block: [64]
    args: [x, out, N]
---*/
// One wavefront exchanges through LDS, and waits with __syncwarp each time.
__global__ void within(const float* x, float* out, int N) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * 64 + t; i < N; i += gridDim.x * 64) sum += x[i];
    s[t] = sum;
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncwarp();
    }
    if (t == 0) atomicAdd(out, s[0]);
}
