/*---
launches:
  - kernel: transpose_ext
    grid: ["ceil_div(C, 64)", "ceil_div(R, 4)"]
    block: [64]
    args: [x, y, R, C]
---*/
// clang's vectors, as AMD's own kernels use them: four rows of a column a thread.
typedef float floatx4 __attribute__((ext_vector_type(4)));

__global__ void transpose_ext(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    const int c = blockIdx.x * 64 + threadIdx.x;
    const int r0 = blockIdx.y * 4;
    if (c >= C) return;
    floatx4 v = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int i = 0; i < 4 && r0 + i < R; ++i) v[i] = x[(size_t)(r0 + i) * C + c];
    for (int i = 0; i < 4 && r0 + i < R; ++i) y[(size_t)c * R + r0 + i] = v[i];
}
