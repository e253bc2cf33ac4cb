/*---
launches:
  - {kernel: running_sum, grid: [R], block: [32], args: [x, y, C]}
---*/
__global__ void running_sum(const float* x, float* y, int cols) {
    const int lane = threadIdx.x;
    const size_t base = (size_t)blockIdx.x * cols;
    float carry = 0.0f;
    for (int start = 0; start < cols; start += 32) {
        float v = start + lane < cols ? x[base + start + lane] : 0.0f;
        for (int d = 1; d < 32; d <<= 1) {
            float left = __shfl_up_sync(0xffffffff, v, d, 32);
            if (lane >= d) v += left;
        }
        if (start + lane < cols) y[base + start + lane] = carry + v;
        carry += __shfl_sync(0xffffffff, v, 31, 32);
    }
}
