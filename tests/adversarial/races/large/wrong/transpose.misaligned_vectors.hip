/*---
launches:
  - {kernel: transpose, grid: ["ceil_div(C, 4)", R], block: [1], args: [x, y, R, C]}
---*/
// Reads four floats at once wherever a row begins: a GPU faults unless C is a multiple of 4.
__global__ void transpose(const float* x, float* y, int R, int C) {
    int c = blockIdx.x * 4, r = blockIdx.y;
    if (c + 4 <= C) {
        float4 v = *reinterpret_cast<const float4*>(x + r * C + c);
        y[c * R + r] = v.x, y[(c + 1) * R + r] = v.y;
        y[(c + 2) * R + r] = v.z, y[(c + 3) * R + r] = v.w;
    } else {
        for (; c < C; ++c) y[c * R + r] = x[r * C + c];
    }
}
