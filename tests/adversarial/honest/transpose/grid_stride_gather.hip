/*---
launches:
  - kernel: gather
    grid: ["min(ceil_div(R * C, 256), 1024)"]
    block: [256]
    args: [x, y, C]
specialize: [R]
---*/
// Over the elements of y, in their order; reads are scattered. R is a
// constant of the compilation, so that dividing by it is cheap.
__global__ void gather(const float* x, float* y, int C) {
    const size_t size = (size_t)R * C;
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < size; i += stride) {
        const size_t c = i / R, r = i - c * R;
        y[i] = x[r * C + c];
    }
}
