/*---
launches:
  - kernel: adamw_kernel
    grid: ["min(64, ceil_div(N, 256))"]
    block: [256]
    args: [param, grad, exp_avg, exp_avg_sq, {value: N, type: int64}, lr, beta1, beta2, eps, weight_decay, step, maximize]
---*/
// Brings: attributes as float, int and bool scalars, an int64 size, updates in place, __restrict__.
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdint>

__device__ __forceinline__ float lerp_to(float from, float to, float weight)
{
    return from + weight * (to - from);
}

__global__ void adamw_kernel(float *__restrict__ param, const float *__restrict__ grad,
                             float *__restrict__ exp_avg, float *__restrict__ exp_avg_sq,
                             int64_t n, float lr, float beta1, float beta2, float eps,
                             float weight_decay, int step, bool maximize)
{
    const float correction1 = 1.0f - powf(beta1, (float)step);
    const float correction2 = sqrtf(1.0f - powf(beta2, (float)step));

    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x) {
        float g = grad[i];
        if (maximize)
            g = -g;

        const float m = lerp_to(exp_avg[i], g, 1.0f - beta1);
        const float v = lerp_to(exp_avg_sq[i], g * g, 1.0f - beta2);
        exp_avg[i] = m;
        exp_avg_sq[i] = v;

        float p = param[i];
        p -= lr * weight_decay * p;
        const float denominator = sqrtf(v) / correction2 + eps;
        param[i] = p - lr / correction1 * m / denominator;
    }
}
