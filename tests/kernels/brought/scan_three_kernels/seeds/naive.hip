/*---
launches:
  - {kernel: scan_blocks, grid: ["ceil_div(N, 256)"], block: [256], args: [x, prefix, sums, N]}
  - {kernel: scan_sums, grid: [1], block: [256], args: [sums, {value: "ceil_div(N, 256)", type: int32}]}
  - {kernel: add_sums, grid: ["ceil_div(N, 256)"], block: [256], args: [sums, prefix, N]}
scratch: {sums: "8 * ceil_div(N, 256)"}
---*/
// Brings: three kernels in one file, __shfl_up_sync of 64-bit integers with a 32-bit mask.
#include <hip/hip_runtime.h>

typedef long long i64;

const int kBlock = 256;
const int kWarp = 32;
const unsigned kAll = 0xffffffffu;

__device__ i64 warp_scan(i64 value)
{
    const int lane = threadIdx.x & (kWarp - 1);
    for (int d = 1; d < kWarp; d *= 2) {
        i64 left = __shfl_up_sync(kAll, value, d);
        if (lane >= d)
            value += left;
    }
    return value;
}

// Inclusive; all threads of the block take part. May be called again after a barrier.
__device__ i64 block_scan(i64 value)
{
    __shared__ i64 totals[kBlock / kWarp];
    const int lane = threadIdx.x & (kWarp - 1), warp = threadIdx.x / kWarp;

    value = warp_scan(value);
    if (lane == kWarp - 1)
        totals[warp] = value;
    __syncthreads();
    if (warp == 0) {
        i64 total = warp_scan(lane < kBlock / kWarp ? totals[lane] : 0);
        if (lane < kBlock / kWarp)
            totals[lane] = total;
    }
    __syncthreads();
    return warp > 0 ? value + totals[warp - 1] : value;
}

__global__ void scan_blocks(const int *x, i64 *prefix, i64 *sums, int n)
{
    const int i = blockIdx.x * kBlock + threadIdx.x;
    const i64 value = block_scan(i < n ? x[i] : 0);
    if (i < n)
        prefix[i] = value;
    if (threadIdx.x == kBlock - 1)
        sums[blockIdx.x] = value;
}

__global__ void scan_sums(i64 *sums, int count)
{
    __shared__ i64 carried;
    if (threadIdx.x == 0)
        carried = 0;
    for (int first = 0; first < count; first += kBlock) {
        const int i = first + threadIdx.x;
        i64 value = block_scan(i < count ? sums[i] : 0);
        value += carried;
        if (i < count)
            sums[i] = value;
        __syncthreads();
        if (threadIdx.x == kBlock - 1)
            carried = value;
        __syncthreads();
    }
}

__global__ void add_sums(const i64 *sums, i64 *prefix, int n)
{
    const int i = blockIdx.x * kBlock + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        prefix[i] += sums[blockIdx.x - 1];
}
