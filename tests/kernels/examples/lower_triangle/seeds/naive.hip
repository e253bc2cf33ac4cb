/*---
launches:
  - {kernel: gram, grid: ["ceil_div(N, 8)", "ceil_div(N, 8)"], block: [8, 8], args: [a, g, N, K]}
---*/
__global__ void gram(const float* a, float* g, int n, int k) {
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j > i) return;
    float sum = 0;
    for (int p = 0; p < k; ++p) sum += a[i * k + p] * a[j * k + p];
    g[i * n + j] = sum;
}
