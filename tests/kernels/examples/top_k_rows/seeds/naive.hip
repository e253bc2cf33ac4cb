/*---
launches:
  - {kernel: top_k, grid: ["ceil_div(R, 32)"], block: [32], args: [x, values, places, R, C, k]}
---*/
#include <cfloat>

__global__ void top_k(const float* x, float* values, int* places, int rows, int cols, int k) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float last = FLT_MAX;
    int at = -1;
    for (int j = 0; j < k; ++j) {
        float best = -FLT_MAX;
        int place = -1;
        for (int c = 0; c < cols; ++c) {
            const float v = x[r * cols + c];
            const bool left = v < last || (v == last && c > at);
            if (left && v > best) {
                best = v;
                place = c;
            }
        }
        values[r * k + j] = last = best;
        places[r * k + j] = at = place;
    }
}
