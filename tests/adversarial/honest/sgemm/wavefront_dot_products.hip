/*---
launches:
  - kernel: dot_rows
    grid: [N, "ceil_div(M, 4)"]
    block: [WIDTH, 4]
    args: [a, b, c, M, N, K]
params: {WIDTH: 64}
---*/
// Threads in rows of 64 share one dot product; shuffles add within a wavefront, LDS beyond it.
__global__ void dot_rows(const float* __restrict__ a, const float* __restrict__ b,
                         float* __restrict__ c, int M, int N, int K) {
    __shared__ float partial[4][WIDTH / WAVEFRONT];
    const int lane = threadIdx.x;
    const int col = blockIdx.x;
    const int row = blockIdx.y * 4 + threadIdx.y;
    const int last = row < M ? K : 0;
    float sum = 0.0f;
    for (int k = lane; k < last; k += WIDTH) {
        sum += a[(size_t)row * K + k] * b[(size_t)k * N + col];
    }
    for (int offset = WAVEFRONT / 2; offset > 0; offset >>= 1) {
        sum += __shfl_down(sum, offset);
    }
    if (lane % WAVEFRONT == 0) partial[threadIdx.y][lane / WAVEFRONT] = sum;
    __syncthreads();
    if (lane == 0 && row < M) {
        float total = 0.0f;
        for (int w = 0; w < WIDTH / WAVEFRONT; ++w) total += partial[threadIdx.y][w];
        c[(size_t)row * N + col] = total;
    }
}
