/*---
launches:
  - {kernel: scale_rows, grid: ["ceil_div(N, 128)", M], block: [128], args: [a, b, N, LD]}
---*/
__global__ void scale_rows(const float* a, float* b, int n, int ld) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) b[(size_t)blockIdx.y * ld + j] = 2.0f * a[(size_t)blockIdx.y * ld + j];
}
