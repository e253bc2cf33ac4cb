/*---
launches:
  - kernel: argsort
    grid: ["ceil_div(C, 256)", "min(R, 65535)"]
    block: [256]
    args: [x, order, R, C]
---*/
// The place of an element in the order is how many come before it: one element a thread.
__global__ void argsort(const float* x, long long* order, int R, int C) {
    __shared__ float tile[256];
    int c = blockIdx.x * 256 + threadIdx.x;
    for (int r = blockIdx.y; r < R; r += gridDim.y) {
        const float* row = x + (size_t)r * C;
        float mine = c < C ? row[c] : 0.0f;
        int before = 0;
        for (int first = 0; first < C; first += 256) {
            __syncthreads();
            if (first + threadIdx.x < C) tile[threadIdx.x] = row[first + threadIdx.x];
            __syncthreads();
            for (int i = 0; i < min(256, C - first); ++i)
                before += tile[i] < mine || (tile[i] == mine && first + i < c);
        }
        if (c < C) order[(size_t)r * C + before] = c;
    }
}
