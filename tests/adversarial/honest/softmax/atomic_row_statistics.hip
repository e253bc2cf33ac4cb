/*---
launches:
  - {memset: {buffer: keys, byte: 0}}
  - {memset: {buffer: sums, byte: 0}}
  - kernel: find_max
    grid: [R, "ceil_div(C, 512)"]
    block: [128]
    args: [x, keys, C]
  - kernel: exponentiate
    grid: [R, "ceil_div(C, 512)"]
    block: [128]
    args: [x, y, keys, sums, C]
  - kernel: divide
    grid: [R, "ceil_div(C, 512)"]
    block: [128]
    args: [y, sums, C]
scratch: {keys: "4 * R", sums: "4 * R"}
---*/
// Largest elements by atomicMax on keys that order floats as unsigned numbers, sums by atomicAdd.
__device__ unsigned key_of(float f) {
    const unsigned bits = __float_as_uint(f);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ float float_of(unsigned key) {
    return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

__global__ void find_max(const float* x, unsigned* keys, int C) {
    const float* in = x + (size_t)blockIdx.x * C;
    const int last = min(C, (int)(blockIdx.y + 1) * 512);
    unsigned best = 0;
    for (int c = blockIdx.y * 512 + threadIdx.x; c < last; c += 128) best = max(best, key_of(in[c]));
    if (best != 0) atomicMax(&keys[blockIdx.x], best);
}

__global__ void exponentiate(const float* x, float* y, const unsigned* keys, float* sums, int C) {
    const size_t row = (size_t)blockIdx.x * C;
    const float m = float_of(keys[blockIdx.x]);
    const int last = min(C, (int)(blockIdx.y + 1) * 512);
    float sum = 0.0f;
    for (int c = blockIdx.y * 512 + threadIdx.x; c < last; c += 128) {
        const float e = expf(x[row + c] - m);
        y[row + c] = e;
        sum += e;
    }
    if (sum != 0.0f) atomicAdd(&sums[blockIdx.x], sum);
}

__global__ void divide(float* y, const float* sums, int C) {
    const size_t row = (size_t)blockIdx.x * C;
    const int last = min(C, (int)(blockIdx.y + 1) * 512);
    for (int c = blockIdx.y * 512 + threadIdx.x; c < last; c += 128) y[row + c] /= sums[blockIdx.x];
}
