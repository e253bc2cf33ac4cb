/*---
launches:
  - {memset: {buffer: c, byte: 0}}
  - kernel: split
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)", 4]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
// Four blocks share the sum of one element: a compare-and-swap that fails is tried again.
__global__ void split(const float* a, const float* b, float* c, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (col >= N || row >= M) return;
    float sum = 0.0f;
    for (int k = blockIdx.z; k < K; k += 4) sum += a[row * K + k] * b[k * N + col];
    unsigned* to = (unsigned*)(c + row * N + col);
    unsigned was = atomicAdd(to, 0u), now = was;
    do {
        was = now;
        now = atomicCAS(to, was, __float_as_uint(__uint_as_float(was) + sum));
    } while (now != was);
}
