/*---
launches:
  - kernel: chunks
    grid: ["ceil_div(THREADS, 64)"]
    block: [64]
    args: [x, parts, N]
  - kernel: last
    grid: [1]
    block: [1]
    args: [parts, out]
scratch: {parts: "4 * THREADS"}
params: {THREADS: 4096}
---*/
// CPU habits: every thread has one contiguous piece, the rest is sequential.
__global__ void chunks(const float* x, float* parts, int n) {
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= THREADS) return;
    const int base = n / THREADS, extra = n % THREADS;
    const int begin = id * base + (id < extra ? id : extra);
    const int end = begin + base + (id < extra);
    float sum = 0.0f;
    for (int i = begin; i != end; ++i) sum += x[i];
    parts[id] = sum;
}

__global__ void last(const float* parts, float* out) {
    float sum = 0.0f;
    for (int i = 0; i < THREADS; ++i) sum += parts[i];
    out[0] = sum;
}
