/*---
launches:
  - kernel: prescan
    grid: ["ceil_div(N, 256)"]
    block: [128]
    args: [counts, offsets, sums, N, {value: "1", type: int32}]
  - kernel: prescan
    grid: [1]
    block: [128]
    args: [sums, base, sums, {value: "ceil_div(N, 256)", type: int32}, {value: "0", type: int32}]
  - kernel: add_base
    when: "N > 256"
    grid: ["ceil_div(N, 256) - 1"]
    block: [256]
    args: [offsets, base, N]
scratch: {sums: "4 * ceil_div(N, 256)", base: "4 * ceil_div(N, 256)"}
---*/
// Work-efficient scan after Blelloch: an up-sweep builds partial sums in place,
// a down-sweep hands them back. 128 threads scan 256 elements.
// The second launch scans the block sums, so N <= 256 * 256.
#include <hip/hip_runtime.h>

#define ELEMENTS 256

__global__ void prescan(const int *in, int *out, int *block_sums, int n, int keep_sums)
{
    __shared__ int temp[ELEMENTS];
    const int tid = threadIdx.x;
    const int first = blockIdx.x * ELEMENTS;

    int ai = first + 2 * tid;
    int bi = ai + 1;
    temp[2 * tid] = ai < n ? in[ai] : 0;
    temp[2 * tid + 1] = bi < n ? in[bi] : 0;

    int offset = 1;
    for (int d = ELEMENTS >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            int a = offset * (2 * tid + 1) - 1;
            int b = offset * (2 * tid + 2) - 1;
            temp[b] += temp[a];
        }
        offset <<= 1;
    }

    if (tid == 0) {
        if (keep_sums)
            block_sums[blockIdx.x] = temp[ELEMENTS - 1];
        temp[ELEMENTS - 1] = 0;
    }

    for (int d = 1; d < ELEMENTS; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int a = offset * (2 * tid + 1) - 1;
            int b = offset * (2 * tid + 2) - 1;
            int t = temp[a];
            temp[a] = temp[b];
            temp[b] += t;
        }
    }
    __syncthreads();

    if (ai < n) out[ai] = temp[2 * tid];
    if (bi < n) out[bi] = temp[2 * tid + 1];
}

__global__ void add_base(int *out, const int *base, int n)
{
    __shared__ int b;
    const int block = blockIdx.x + 1; // the first 256 elements are right already
    if (threadIdx.x == 0) b = base[block];
    __syncthreads();
    const int i = block * ELEMENTS + threadIdx.x;
    if (i < n) out[i] += b;
}
