/*---
scratch: {parts: 256, ticket: 4}
launches:
  - {memset: {buffer: ticket, byte: 0}}
  - {kernel: sums, grid: [64], block: [64], args: [x, out, parts, ticket, N]}
---*/
// The block that comes last adds what the others left behind a fence.
__global__ void sums(const float* x, float* out, volatile float* parts, unsigned* ticket, int N) {
    __shared__ float s[64];
    __shared__ bool last;
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * 64 + t; i < N; i += 64 * 64) sum += x[i];
    s[t] = sum;
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < 64; ++k) sum += s[k];
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(ticket, 1u) == 63;
    }
    __syncthreads();
    if (last && t == 0) {
        __threadfence();
        sum = 0.0f;
        for (int k = 0; k < 64; ++k) sum += parts[k];
        out[0] = sum;
    }
}
