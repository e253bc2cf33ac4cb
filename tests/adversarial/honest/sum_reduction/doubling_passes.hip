/*---
launches:
  - kernel: fold
    grid: [64]
    block: [256]
    args: [x, sums, N]
  - kernel: halve
    repeat: {i: 14}
    grid: ["ceil_div(1 << (13 - i), 256)"]
    block: [256]
    args: [sums, {value: "1 << (13 - i)", type: int32}]
  - kernel: take
    grid: [1]
    block: [1]
    args: [sums, out]
scratch: {sums: "4 * 16384"}
---*/
// 16384 sums, and fourteen launches that each halve their number: no LDS, no barrier.
__global__ void fold(const float* x, float* sums, int n) {
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0.0f;
    for (int i = id; i < n; i += 16384) s += x[i];
    sums[id] = s;
}

__global__ void halve(float* sums, int half) {
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id < half) sums[id] += sums[id + half];
}

__global__ void take(const float* sums, float* out) {
    out[0] = sums[0];
}
