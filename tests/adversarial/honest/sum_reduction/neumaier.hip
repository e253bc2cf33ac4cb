/*---
launches:
  - kernel: neumaier_rows
    grid: [128]
    block: [64]
    args: [x, sums, lost, N]
  - kernel: neumaier_last
    grid: [1]
    block: [1]
    args: [sums, lost, out, {value: "128 * 64", type: int32}]
scratch: {sums: "4 * 128 * 64", lost: "4 * 128 * 64"}
options: ["-fno-fast-math"]
---*/
// Kahan's and Babuska's summation after Neumaier: right also where a term is larger than the sum.
__device__ __forceinline__ void neumaier(float& s, float& c, float v) {
    const float t = s + v;
    c += fabsf(s) >= fabsf(v) ? (s - t) + v : (v - t) + s;
    s = t;
}

__global__ void neumaier_rows(const float* x, float* sums, float* lost, int n) {
    const int id = blockIdx.x * 64 + threadIdx.x;
    float s = 0.0f, c = 0.0f;
    for (int i = id; i < n; i += 128 * 64) neumaier(s, c, x[i]);
    sums[id] = s;
    lost[id] = c;
}

__global__ void neumaier_last(const float* sums, const float* lost, float* out, int count) {
    float s = 0.0f, c = 0.0f;
    for (int i = 0; i < count; ++i) {
        neumaier(s, c, sums[i]);
        c += lost[i];
    }
    *out = s + c;
}
