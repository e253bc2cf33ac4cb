/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: reduce1
    grid: ["ceil_div(N, 1024)"]
    block: [256]
    args: [x, out, N]
---*/
// Interleaved addressing without divergent branches; a block has 1024 elements.
__global__ void reduce1(const float* x, float* out, int n) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    int i = blockIdx.x * 1024 + t;
    float v = 0.0f;
    for (int step = 0; step < 4; ++step, i += 256) v += i < n ? x[i] : 0.0f;
    s[t] = v;
    __syncthreads();
    for (int stride = 1; stride < 256; stride *= 2) {
        const int index = 2 * stride * t;
        if (index < 256) s[index] += s[index + stride];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, s[0]);
}
