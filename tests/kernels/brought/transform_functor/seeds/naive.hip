/*---
launches:
  - kernel: "transform<Axpy, float>"
    grid: ["min(32, ceil_div(N, 256))"]
    block: [256]
    args: [x, y, z, {value: N, type: uint64}, {struct: [alpha]}]
  - kernel: "transform<Multiply<float>, float>"
    grid: ["min(32, ceil_div(N, 256))"]
    block: [256]
    args: [z, y, z, {value: N, type: uint64}, {struct: []}]
---*/
// Brings: functor templates, a struct by value with a field and one without any, std::size_t.
#include <hip/hip_runtime.h>
#include <cstddef>

class Axpy {
 public:
  __device__ float operator()(const float& x, const float& y) const { return alpha_ * x + y; }
  float alpha_;
};

template <typename Scalar>
struct Multiply {
  __device__ Scalar operator()(Scalar a, Scalar b) const { return a * b; }
};

template <typename BinaryOp, typename Scalar>
__global__ void transform(const Scalar* first, const Scalar* second, Scalar* result, std::size_t n,
                          BinaryOp op) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    result[i] = op(first[i], second[i]);
}
