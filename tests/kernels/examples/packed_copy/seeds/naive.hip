/*---
launches:
  - {kernel: swap_pairs, grid: ["ceil_div(N, 512)"], block: [256], args: [x, y, N]}
---*/
#include <cstring>

struct alignas(8) Pair {
    float first, second;
};

__global__ void swap_pairs(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 < n) {
        float2 loaded = __ldcs(reinterpret_cast<const float2*>(x) + i);
        Pair pair;
        memcpy(&pair, &loaded, sizeof(Pair));
        __stcs(reinterpret_cast<float2*>(y) + i, make_float2(pair.second, pair.first));
    } else if (2 * i < n) {
        y[2 * i] = x[2 * i];
    }
}
