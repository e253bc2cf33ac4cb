/*---
launches:
  - kernel: transpose_vec<float2, 2>
    when: "C % 2 == 0"
    grid: ["ceil_div(C, 64)", "ceil_div(R, 32)"]
    block: [32, 8]
    args: [x, y, R, C]
  - kernel: transpose_vec<float, 1>
    when: "C % 2 == 1"
    grid: ["ceil_div(C, 32)", "ceil_div(R, 32)"]
    block: [32, 8]
    args: [x, y, R, C]
---*/
// The width of a load is a template parameter.
template <typename V, int W>
__global__ void transpose_vec(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    static_assert(sizeof(V) == W * sizeof(float), "W elements fill a V");
    __shared__ __align__(8) float tile[32][32 * W + W];
    const int c0 = blockIdx.x * 32 * W, r0 = blockIdx.y * 32;
    const int tx = threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (r0 + i < R && c0 + tx * W < C) {
            *reinterpret_cast<V*>(&tile[i][tx * W]) =
                *reinterpret_cast<const V*>(&x[(size_t)(r0 + i) * C + c0 + tx * W]);
        }
    }
    __syncthreads();
    for (int i = threadIdx.y; i < 32 * W; i += 8) {
        if (r0 + tx < R && c0 + i < C) y[(size_t)(c0 + i) * R + r0 + tx] = tile[tx][i];
    }
}
