/*---
launches:
  - kernel: scatter
    grid: [320]
    block: [128]
    args: [x, y, R, C, {value: "R * C", type: int64}]
---*/
// Over the elements of x; row and column are carried along, without a division in the loop.
__global__ void scatter(const float* x, float* y, int R, int C, long long size) {
    const int threads = gridDim.x * blockDim.x;
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    int r = id / C, c = id % C;
    const int dr = threads / C, dc = threads % C;
    for (long long i = id; i < size; i += threads) {
        y[(long long)c * R + r] = x[i];
        r += dr, c += dc;
        if (c >= C) c -= C, ++r;
    }
}
