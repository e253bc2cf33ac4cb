/*---
launches:
  - {kernel: saxpy4, grid: ["ceil_div(N, 1024)"], block: [256], args: [N, {value: 0.75, type: float32}, x, y]}
---*/
__global__ void saxpy4(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 u = reinterpret_cast<const float4*>(x)[i];
        float4 v = reinterpret_cast<float4*>(y)[i];
        v.x += a * u.x;
        v.y += a * u.y;
        v.z += a * u.z;
        v.w += a * u.w;
        reinterpret_cast<float4*>(y)[i] = v;
    } else {
        for (int k = 4 * i; k < n; k++) y[k] += a * x[k];
    }
}
