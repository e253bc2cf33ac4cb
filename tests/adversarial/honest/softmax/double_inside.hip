/*---
launches:
  - kernel: softmax_double
    grid: [R]
    block: [64]
    args: [x, y, C]
---*/
// Everything in double, rounded when stored.
__global__ void softmax_double(const float* x, float* y, int C) {
    __shared__ double lds[64];
    const int lane = threadIdx.x;
    const long long start = (long long)blockIdx.x * C;
    double m = x[start];
    for (int c = lane; c < C; c += 64) m = fmax(m, (double)x[start + c]);
    lds[lane] = m;
    __syncthreads();
    if (lane == 0)
        for (int i = 1; i < 64; ++i) lds[0] = fmax(lds[0], lds[i]);
    __syncthreads();
    m = lds[0];
    __syncthreads();
    double s = 0.0;
    for (int c = lane; c < C; c += 64) s += exp((double)x[start + c] - m);
    lds[lane] = s;
    __syncthreads();
    s = 0.0;
    for (int i = 0; i < 64; ++i) s += lds[i];
    for (int c = lane; c < C; c += 64) y[start + c] = (float)(exp((double)x[start + c] - m) / s);
}
