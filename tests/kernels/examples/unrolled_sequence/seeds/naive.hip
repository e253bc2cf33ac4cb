/*---
launches:
  - {kernel: polynomial, grid: ["ceil_div(N, 256)"], block: [256], args: [x, y, N]}
---*/
#include <utility>

template <int... I, typename F>
__device__ void unroll(std::integer_sequence<int, I...>, F f) {
    (f.template operator()<I>(), ...);
}

__global__ void polynomial(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = x[i];
    float sum = 0.0f, power = 1.0f;
    unroll(std::make_integer_sequence<int, 6>{}, [&]<int K>() {
        sum += static_cast<float>(K + 1) * power;
        power *= v;
    });
    y[i] = sum;
}
