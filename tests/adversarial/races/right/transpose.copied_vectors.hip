/*---
launches:
  - {kernel: transpose, grid: ["ceil_div(C, 4)", R], block: [1], args: [x, y, R, C]}
---*/
// Copies four floats at any address, and reads them at once where they are aligned.
__global__ void transpose(const float* x, float* y, int R, int C) {
    int c = blockIdx.x * 4, r = blockIdx.y;
    const float* from = x + r * C + c;
    float4 v = {};
    if (c + 4 <= C && (r * C + c) % 4 == 0) v = *reinterpret_cast<const float4*>(from);
    else if (c + 4 <= C) __builtin_memcpy(&v, from, sizeof v);
    else __builtin_memcpy(&v, from, (C - c) * sizeof(float));
    float own[4] = {v.x, v.y, v.z, v.w};
    for (int k = 0; k < 4 && c + k < C; ++k) y[(c + k) * R + r] = own[k];
}
