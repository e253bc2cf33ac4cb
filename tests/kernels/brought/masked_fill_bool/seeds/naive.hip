/*---
launches:
  - kernel: masked_fill<T>
    grid: ["ceil_div(R * C, 256)"]
    block: [256]
    args: [input, mask, output, {value: "R * C", type: uint32}, {value: C, type: uint32}, value, invert]
---*/
// Brings: a bool array, a bool scalar, unsigned sizes, an attribute named value.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

template <typename scalar_t>
__global__ void masked_fill(const scalar_t* input, const bool* mask, scalar_t* output, unsigned int n,
                            unsigned int cols, float value, bool invert) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    bool fill = mask[i % cols] != invert;
    output[i] = fill ? scalar_t(value) : input[i];
  }
}
