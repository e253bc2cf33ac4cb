/*---
launches:
  - kernel: argsort
    grid: ["ceil_div(C, 256)", "min(R, 65535)"]
    block: [256]
    args: [x, order, R, C]
---*/
// A rank sort: one element a thread, whose place is how many elements come before it.
__global__ void argsort(const float* x, int* order, int R, int C) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = blockIdx.y; r < R; r += gridDim.y) {
        const float* row = x + (size_t)r * C;
        if (c < C) {
            float mine = row[c];
            int before = 0;
            for (int i = 0; i < C; ++i) {
                if (row[i] < mine || (row[i] == mine && i < c)) {
                    ++before;
                }
            }
            order[(size_t)r * C + before] = c;
        }
    }
}
