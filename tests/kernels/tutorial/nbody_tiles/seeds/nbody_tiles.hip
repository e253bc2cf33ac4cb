/*---
launches:
  - kernel: calculate_forces
    grid: ["ceil_div(N, 64)"]
    block: [64]
    args: [bodies, accel, N]
---*/
#include <hip/hip_runtime.h>

#define SOFTENING 0.01f

__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai)
{
    float3 r;
    r.x = bj.x - bi.x;
    r.y = bj.y - bi.y;
    r.z = bj.z - bi.z;
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + SOFTENING;
    float inv = 1.0f / sqrtf(distSqr);
    float s = bj.w * inv * inv * inv;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}

__device__ float3 tile_calculation(float4 myPosition, const float4* tile, float3 accel)
{
    for (int i = 0; i < blockDim.x; i++)
        accel = bodyBodyInteraction(myPosition, tile[i], accel);
    return accel;
}

__global__ void calculate_forces(const float4* bodies, float4* accel, int n)
{
    __shared__ float4 shPosition[64];
    int gtid = blockIdx.x * blockDim.x + threadIdx.x;

    const float4 nobody = make_float4(0.0f, 0.0f, 0.0f, 0.0f);  // no mass, no force
    float4 myPosition = gtid < n ? bodies[gtid] : nobody;
    float3 acc = {0.0f, 0.0f, 0.0f};

    for (int i = 0, tile = 0; i < n; i += blockDim.x, tile++) {
        int idx = tile * blockDim.x + threadIdx.x;
        shPosition[threadIdx.x] = idx < n ? bodies[idx] : nobody;
        __syncthreads();
        acc = tile_calculation(myPosition, shPosition, acc);
        __syncthreads();
    }

    // Save the result in global memory for the integration step.
    if (gtid < n) {
        float4 acc4 = {acc.x, acc.y, acc.z, 0.0f};
        accel[gtid] = acc4;
    }
}
