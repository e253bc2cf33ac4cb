/*---
launches:
  - kernel: lj_forces
    grid: ["ceil_div(N, 64)"]
    block: [64]
    args: [position, force, N, {struct: [epsilon, sigma, {value: box, type: float64}, periodic]}]
---*/
// Brings: a struct by value whose fields need padding (float, float, double, bool), float4, tiles.
#include <hip/hip_runtime.h>

struct Fluid {
    float epsilon;
    float sigma;
    double box;
    bool periodic;
};

__device__ float nearest_image(float d, const Fluid &fluid)
{
    const float box = (float)fluid.box;
    return fluid.periodic ? d - box * rintf(d / box) : d;
}

__global__ void lj_forces(const float4 *position, float4 *force, int n, Fluid fluid)
{
    __shared__ float4 tile[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 own = i < n ? position[i] : make_float4(0.f, 0.f, 0.f, 0.f);
    const float s2 = fluid.sigma * fluid.sigma;
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);

    for (int first = 0; first < n; first += blockDim.x) {
        if (first + threadIdx.x < n)
            tile[threadIdx.x] = position[first + threadIdx.x];
        __syncthreads();

        const int count = min((int)blockDim.x, n - first);
        for (int j = 0; j < count; ++j) {
            if (first + j == i) continue;
            const float dx = nearest_image(own.x - tile[j].x, fluid);
            const float dy = nearest_image(own.y - tile[j].y, fluid);
            const float dz = nearest_image(own.z - tile[j].z, fluid);
            const float inverse = 1.0f / (dx * dx + dy * dy + dz * dz);
            const float s = s2 * inverse;
            const float s6 = s * s * s;
            const float strength = 24.0f * fluid.epsilon * (2.0f * s6 * s6 - s6) * inverse;
            sum.x += strength * dx;
            sum.y += strength * dy;
            sum.z += strength * dz;
            sum.w += 2.0f * fluid.epsilon * (s6 * s6 - s6);
        }
        __syncthreads();
    }

    if (i < n)
        force[i] = sum;
}
