/*---
launches:
  - kernel: batch_norm
    grid: [C]
    block: [128]
    args: [x, gamma, beta, y, mean, rstd, N, C, HW, eps]
---*/
// Brings: __shfl_xor_sync with a 32-bit mask on the members of a struct, a struct in LDS.
#include <hip/hip_runtime.h>

#define FULL_MASK 0xffffffff
#define WARP 32

struct Moments {
    float count, mean, m2;
};

__device__ Moments merge(const Moments &a, const Moments &b)
{
    Moments r;
    r.count = a.count + b.count;
    if (r.count == 0.0f) return a;
    float delta = b.mean - a.mean;
    float share = b.count / r.count;
    r.mean = a.mean + delta * share;
    r.m2 = a.m2 + b.m2 + delta * delta * a.count * share;
    return r;
}

__global__ void batch_norm(const float *x, const float *gamma, const float *beta, float *y,
                           float *mean, float *rstd, int n, int channels, int hw, float eps)
{
    __shared__ Moments per_warp[4];
    const int c = blockIdx.x;
    const int lane = threadIdx.x % WARP;
    const int warp = threadIdx.x / WARP;

    Moments own = {0.0f, 0.0f, 0.0f};
    for (int i = threadIdx.x; i < n * hw; i += blockDim.x) {
        float value = x[((i / hw) * channels + c) * hw + i % hw];
        own.count += 1.0f;
        float delta = value - own.mean;
        own.mean += delta / own.count;
        own.m2 += delta * (value - own.mean);
    }

    for (int offset = WARP / 2; offset > 0; offset >>= 1) {
        Moments other;
        other.count = __shfl_xor_sync(FULL_MASK, own.count, offset);
        other.mean = __shfl_xor_sync(FULL_MASK, own.mean, offset);
        other.m2 = __shfl_xor_sync(FULL_MASK, own.m2, offset);
        own = merge(own, other);
    }
    if (lane == 0) per_warp[warp] = own;
    __syncthreads();

    Moments all = per_warp[0];
    for (int w = 1; w < blockDim.x / WARP; ++w) all = merge(all, per_warp[w]);
    const float r = rsqrtf(all.m2 / all.count + eps);
    if (threadIdx.x == 0) {
        mean[c] = all.mean;
        rstd[c] = r;
    }

    for (int i = threadIdx.x; i < n * hw; i += blockDim.x) {
        int at = ((i / hw) * channels + c) * hw + i % hw;
        y[at] = (x[at] - all.mean) * r * gamma[c] + beta[c];
    }
}
