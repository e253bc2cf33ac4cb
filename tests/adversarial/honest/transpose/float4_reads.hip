/*---
launches:
  - kernel: transpose_read4
    when: "C % 4 == 0"
    grid: ["ceil_div(C, 256)", R]
    block: [64]
    args: [x, y, R, C]
  - kernel: transpose_read1
    when: "C % 4 != 0"
    grid: ["ceil_div(C, 64)", R]
    block: [64]
    args: [x, y, R, C]
---*/
// Four elements of a row at once where rows allow it; writes are scattered.
__global__ void transpose_read4(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    const int c = (blockIdx.x * 64 + threadIdx.x) * 4;
    const size_t r = blockIdx.y;
    if (c >= C) return;
    const float4 v = *reinterpret_cast<const float4*>(&x[r * C + c]);
    y[(size_t)(c + 0) * R + r] = v.x;
    y[(size_t)(c + 1) * R + r] = v.y;
    y[(size_t)(c + 2) * R + r] = v.z;
    y[(size_t)(c + 3) * R + r] = v.w;
}

__global__ void transpose_read1(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    const int c = blockIdx.x * 64 + threadIdx.x;
    if (c < C) y[(size_t)c * R + blockIdx.y] = x[(size_t)blockIdx.y * C + c];
}
