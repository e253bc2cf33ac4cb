/*---
launches:
  - kernel: one_block
    grid: [1]
    block: [1024]
    args: [x, out, N]
---*/
// One block of the largest size does all.
__global__ void __launch_bounds__(1024) one_block(const float* x, float* out, int n) {
    __shared__ float s[1024];
    float a = 0, b = 0;
    int i = threadIdx.x;
    for (; i + 1024 < n; i += 2048) {
        a += x[i];
        b += x[i + 1024];
    }
    if (i < n) a += x[i];
    s[threadIdx.x] = a + b;
    int live = 512;
    do {
        __syncthreads();
        if (threadIdx.x < live) s[threadIdx.x] += s[threadIdx.x + live];
        live /= 2;
    } while (live > 0);
    if (threadIdx.x == 0) out[0] = s[0];
}
