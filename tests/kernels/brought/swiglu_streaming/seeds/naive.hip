/*---
launches:
  - kernel: swiglu
    grid: ["ceil_div(R * C, 4 * 128)"]
    block: [128]
    args: [gate_up, out, {value: R, type: uint64}, {value: "C // 4", type: uint64}]
---*/
// Brings: __ldcs and __stcs of float4, size_t sizes, float4 pointers as arguments.
#include <hip/hip_runtime.h>
#include <cstddef>

__device__ __forceinline__ float silu(float g) { return g / (1.0f + __expf(-g)); }

__global__ void swiglu(const float4* __restrict__ gate_up, float4* __restrict__ out, size_t rows,
                       size_t quads) {
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= rows * quads) {
        return;
    }
    const size_t row = i / quads, quad = i % quads;
    const float4 gate = __ldcs(gate_up + row * 2 * quads + quad);
    const float4 up = __ldcs(gate_up + (row * 2 + 1) * quads + quad);

    float4 result;
    result.x = silu(gate.x) * up.x;
    result.y = silu(gate.y) * up.y;
    result.z = silu(gate.z) * up.z;
    result.w = silu(gate.w) * up.w;
    __stcs(out + i, result);
}
