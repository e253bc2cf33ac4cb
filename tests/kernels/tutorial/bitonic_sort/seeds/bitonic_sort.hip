/*---
launches:
  - kernel: bitonic_rows
    grid: [ROWS]
    block: [256]
    args: [keys, COLS]
---*/
#include <hip/hip_runtime.h>

// COLS <= 256. Rows are padded to 256 keys with the value that sorts last.

#define SWAP(a, b) do { int tmp_ = (a); (a) = (b); (b) = tmp_; } while (0)

__device__ void bitonic_step(int* s, unsigned int t, unsigned int k, unsigned int j, bool descending)
{
    unsigned int partner = t ^ j;
    if (partner > t) {
        bool up = ((t & k) == 0) != descending;
        if (up ? s[t] > s[partner] : s[t] < s[partner])
            SWAP(s[t], s[partner]);
    }
}

__global__ void bitonic_rows(int* keys, int cols)
{
    __shared__ int s[256];
    const unsigned int t = threadIdx.x;
    const bool descending = blockIdx.x & 1;
    const int pad = descending ? -2147483647 : 2147483647;
    int* row = keys + blockIdx.x * cols;

    s[t] = t < cols ? row[t] : pad;
    __syncthreads();

    for (unsigned int k = 2; k <= 256; k <<= 1) {
        for (unsigned int j = k >> 1; j > 0; j >>= 1) {
            bitonic_step(s, t, k, j, descending);
            __syncthreads();
        }
    }

    if (t < cols) row[t] = s[t];
}
