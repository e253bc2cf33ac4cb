/*---
launches:
  - {memset: {buffer: counts, byte: 0}}
  - kernel: histogram
    grid: ["ceil_div(N, 256)"]
    block: [256]
    args: [ids, counts, N]
---*/
// One element a thread, one atomic addition each.
__global__ void histogram(const int* ids, int* counts, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        atomicAdd(&counts[ids[i]], 1);
    }
}
