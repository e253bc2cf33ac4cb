/*---
launches:
  - kernel: gelu
    grid: ["ceil_div(N, 256)"]
    block: [256]
    args: [x, y, N]
---*/
// One element a thread.
__global__ void gelu(const float* x, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float v = x[i];
        float inner = 0.7978845608f * (v + 0.044715f * v * v * v);
        y[i] = 0.5f * v * (1.0f + tanhf(inner));
    }
}
