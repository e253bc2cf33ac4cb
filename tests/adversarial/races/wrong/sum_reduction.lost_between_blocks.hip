/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: tree
    grid: ["ceil_div(N, 1024)"]
    block: [256]
    args: [x, out, N]
---*/
// Right within a block; between blocks the last addition is a plain read and write.
__global__ void tree(const float* x, float* out, int N) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        int i = blockIdx.x * 1024 + k * 256 + t;
        if (i < N) sum += x[i];
    }
    s[t] = sum;
    for (int d = 128; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) s[t] += s[t + d];
    }
    if (t == 0) *out = *out + s[0];
}
