/*---
launches:
  - kernel: transpose_micro
    grid: ["ceil_div(ceil_div(C, 4), 16)", "ceil_div(ceil_div(R, 4), 8)"]
    block: [16, 8]
    args: [x, y, R, C]
---*/
// A 4 x 4 square a thread, turned in registers; whole squares of aligned rows move as float4.
__global__ void transpose_micro(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    const int c0 = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    const int r0 = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    if (c0 >= C || r0 >= R) return;
    const bool whole = (C & 3) == 0 && (R & 3) == 0;
    if (whole) {
        float4 in[4], out[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            in[i] = *reinterpret_cast<const float4*>(x + (size_t)(r0 + i) * C + c0);
        }
        out[0] = make_float4(in[0].x, in[1].x, in[2].x, in[3].x);
        out[1] = make_float4(in[0].y, in[1].y, in[2].y, in[3].y);
        out[2] = make_float4(in[0].z, in[1].z, in[2].z, in[3].z);
        out[3] = make_float4(in[0].w, in[1].w, in[2].w, in[3].w);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            *reinterpret_cast<float4*>(y + (size_t)(c0 + i) * R + r0) = out[i];
        }
    } else {
        for (int r = r0; r < min(r0 + 4, R); ++r)
            for (int c = c0; c < min(c0 + 4, C); ++c) y[(size_t)c * R + r] = x[(size_t)r * C + c];
    }
}
