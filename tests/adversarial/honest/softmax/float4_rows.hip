/*---
launches:
  - kernel: softmax_vec4
    grid: [R]
    block: [128]
    args: [x, y, C]
---*/
// Four elements at once from the first address that allows it; ends are done one by one.
__device__ __forceinline__ float max4(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }
__device__ __forceinline__ float sum4(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ __forceinline__ float4 exp4(float4 v, float m) {
    return make_float4(expf(v.x - m), expf(v.y - m), expf(v.z - m), expf(v.w - m));
}

__global__ __launch_bounds__(128) void softmax_vec4(const float* __restrict__ x,
                                                    float* __restrict__ y, int C) {
    __shared__ float lds[128];
    const int t = threadIdx.x;
    const size_t offset = (size_t)blockIdx.x * C;
    const float* in = x + offset;
    float* out = y + offset;
    const int head = min((int)((4 - offset % 4) % 4), C);  // buffers begin at whole lines
    const int quads = (C - head) / 4;
    const int tail = head + quads * 4;
    const float4* in4 = reinterpret_cast<const float4*>(in + head);
    float4* out4 = reinterpret_cast<float4*>(out + head);

    float m = -3.402823466e+38f;
    if (t < head) m = in[t];
    for (int q = t; q < quads; q += 128) m = fmaxf(m, max4(in4[q]));
    if (tail + t < C) m = fmaxf(m, in[tail + t]);
    lds[t] = m;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) lds[t] = fmaxf(lds[t], lds[t + s]);
        __syncthreads();
    }
    m = lds[0];
    __syncthreads();

    float sum = 0.0f;
    if (t < head) sum += expf(in[t] - m);
    for (int q = t; q < quads; q += 128) sum += sum4(exp4(in4[q], m));
    if (tail + t < C) sum += expf(in[tail + t] - m);
    lds[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) lds[t] += lds[t + s];
        __syncthreads();
    }
    const float scale = 1.0f / lds[0];

    if (t < head) out[t] = expf(in[t] - m) * scale;
    for (int q = t; q < quads; q += 128) {
        float4 e = exp4(in4[q], m);
        e.x *= scale, e.y *= scale, e.z *= scale, e.w *= scale;
        out4[q] = e;
    }
    if (tail + t < C) out[tail + t] = expf(in[tail + t] - m) * scale;
}
