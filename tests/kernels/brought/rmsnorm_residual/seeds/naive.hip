/*---
launches:
  - kernel: fused_add_rms_norm<T>
    grid: [R]
    block: [256]
    args: [residual, x, weight, y, C, eps]
---*/
// Brings: a function with shuffles as template argument of a device function, default arguments,
// __shfl_down_sync and __shfl_sync with 0xffffffff, bfloat16, an update in place.
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>

using reduction = float (*)(float);

__device__ inline float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        v += __shfl_down_sync(0xffffffff, v, offset);
    }
    return __shfl_sync(0xffffffff, v, 0);
}

template <reduction warp_reduction>
__device__ inline float block_reduce(float v, float neutral = 0.0f, bool used_again = false) {
    __shared__ float of_warp[32];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int warps = blockDim.x / 32;

    v = warp_reduction(v);
    if (lane == 0) { of_warp[warp] = v; }
    __syncthreads();
    v = lane < warps ? of_warp[lane] : neutral;
    v = warp_reduction(v);
    if (used_again) { __syncthreads(); }
    return v;
}

template <typename floatX>
__global__ void fused_add_rms_norm(floatX* residual, const floatX* x, const floatX* weight,
                                   floatX* y, int c, float eps) {
    const long long row = (long long)blockIdx.x * c;

    float squares = 0.0f;
    for (int i = threadIdx.x; i < c; i += blockDim.x) {
        float s = (float)residual[row + i] + (float)x[row + i];
        residual[row + i] = (floatX)s;
        squares += s * s;
    }
    const float r = rsqrtf(block_reduce<warp_sum>(squares) / c + eps);

    // every thread reads again only what it wrote itself
    for (int i = threadIdx.x; i < c; i += blockDim.x) {
        y[row + i] = (floatX)((float)residual[row + i] * r * (float)weight[i]);
    }
}
