/*---
launches:
  - {memset: {buffer: histogram, byte: 0}}
  - kernel: weighted_histogram
    grid: ["min(16, ceil_div(N, 256))"]
    block: [256]
    lds_bytes: "4 * BINS"
    args: [x, weight, histogram, N, BINS, {value: low, type: float64}, {value: high, type: float64}]
---*/
// Brings: atomicAdd of floats in dynamic LDS and in memory, double bounds as scalars.
#include <hip/hip_runtime.h>

extern __shared__ float local_bins[];

__global__ void weighted_histogram(const float *x, const float *weight, float *histogram, int n,
                                   int bins, double low, double high)
{
    for (int b = threadIdx.x; b < bins; b += blockDim.x)
        local_bins[b] = 0.0f;
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const double value = x[i];
        if (!(value >= low && value < high))
            continue;
        const int bin = (int)((value - low) / (high - low) * bins);
        atomicAdd(&local_bins[min(bin, bins - 1)], weight[i]);
    }
    __syncthreads();

    for (int b = threadIdx.x; b < bins; b += blockDim.x)
        if (local_bins[b] != 0.0f)
            atomicAdd(histogram + b, local_bins[b]);
}
