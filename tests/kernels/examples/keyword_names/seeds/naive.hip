/*---
launches:
  - {kernel: sliding_min, grid: ["ceil_div(N, 256)"], block: [256], args: [in, out, N]}
---*/
__global__ void sliding_min(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float least = INFINITY;
    for (int k = -1; k <= 1; ++k)
        if (i + k >= 0 && i + k < n) least = fminf(least, in[i + k]);
    out[i] = least;
}
