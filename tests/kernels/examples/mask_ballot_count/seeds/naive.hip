/*---
launches:
  - {kernel: count_positive, grid: [R], block: [32], args: [x, y, C]}
---*/
__global__ void count_positive(const float* x, int* y, int cols) {
    int count = 0;
    for (int start = 0; start < cols; start += 32) {
        int c = start + threadIdx.x;
        bool positive = c < cols && x[blockIdx.x * cols + c] > 0.0f;
        count += __popc(__ballot_sync(0xffffffffu, positive));
    }
    if (threadIdx.x == 0) y[blockIdx.x] = count;
}
