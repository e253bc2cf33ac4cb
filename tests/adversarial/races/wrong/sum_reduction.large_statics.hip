/*---
scratch: {partial: "4 * ceil_div(N, 1024)"}
launches:
  - kernel: chain
    grid: ["ceil_div(N, 1024)"]
    block: [1]
    args: [x, partial, out, N]
---*/
// As blocks_in_order, with as much static memory as a kernel may have: the oracle adds its own.
__device__ char table[250 << 20];
__global__ void chain(const float* x, float* partial, float* out, int N) {
    int b = blockIdx.x;
    float sum = b > 0 ? partial[b - 1] : 0.0f;
    for (int i = b * 1024; i < N && i < b * 1024 + 1024; ++i) sum += x[i];
    if (N < 0) table[sum < 0 ? 7 : -N] = 1;
    sum += table[N];
    partial[b] = sum;
    if (b == gridDim.x - 1) out[0] = sum;
}
