/*---
launches:
  - kernel: row_max
    grid: ["ceil_div(R, 4)"]
    block: [64, 4]
    args: [x, largest, R, C]
  - kernel: row_sum
    grid: ["ceil_div(R, 4)"]
    block: [64, 4]
    args: [x, largest, sums, R, C]
  - kernel: normalise
    grid: ["min(ceil_div(R * C, 256), 4096)"]
    block: [256]
    args: [x, y, largest, sums, C, {value: "R * C", type: int64}]
scratch: {largest: "4 * R", sums: "4 * R"}
---*/
// One launch for the largest, one for the sums, one for all quotients.
__global__ void row_max(const float* x, float* largest, int R, int C) {
    __shared__ float lds[4][64];
    const int lane = threadIdx.x, slot = threadIdx.y;
    const int row = min((int)(blockIdx.x * 4 + slot), R - 1);  // the last row may be done twice
    float m = x[(size_t)row * C];
    for (int i = lane; i < C; i += 64) m = max(m, x[(size_t)row * C + i]);
    lds[slot][lane] = m;
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half) lds[slot][lane] = max(lds[slot][lane], lds[slot][lane + half]);
    }
    if (lane == 0 && blockIdx.x * 4 + slot < R) largest[row] = lds[slot][0];
}

__global__ void row_sum(const float* x, const float* largest, float* sums, int R, int C) {
    __shared__ float lds[4][64];
    const int lane = threadIdx.x, slot = threadIdx.y;
    const int row = min((int)(blockIdx.x * 4 + slot), R - 1);
    const float m = largest[row];
    float s = 0;
    for (int i = lane; i < C; i += 64) s += exp(x[(size_t)row * C + i] - m);
    lds[slot][lane] = s;
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half) lds[slot][lane] += lds[slot][lane + half];
    }
    if (lane == 0 && blockIdx.x * 4 + slot < R) sums[row] = lds[slot][0];
}

__global__ void normalise(const float* x, float* y, const float* largest, const float* sums, int C,
                          long long size) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < size; i += step) {
        const int row = (int)(i / C);
        y[i] = exp(x[i] - largest[row]) / sums[row];
    }
}
