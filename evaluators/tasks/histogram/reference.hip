/*---
launches:
  - {memset: {buffer: counts, byte: 0}}
  - {kernel: histogram, grid: ["ceil_div(N, 256)"], block: [256], args: [ids, counts, N]}
---*/
// One addition an element, in 64 bits.
__global__ void histogram(const int* ids, unsigned long long* counts, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) atomicAdd(&counts[ids[i]], 1ull);
}
