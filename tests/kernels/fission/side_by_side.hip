__global__ void k(const unsigned* x, unsigned* y, int n) {
    __shared__ unsigned tile[8][25];
    const int tid = threadIdx.x;
    unsigned sum = 0, last = 0;
    for (int i = tid; i < 200; i += blockDim.x) tile[i / 25][i % 25] = x[i + blockIdx.x];
    for (int i = tid; i < n; i += 96) {
        if (x[i] % 3 == 0) continue;
        sum += x[i];
        last = i;
    }
    __syncthreads();
    for (int i = tid; i < 200; i += blockDim.x) sum += tile[i % 8][i / 8];
    for (int i = tid * 2; i < tid * 2 + 2; ++i) sum += x[i];
    y[blockIdx.x * blockDim.x + tid] = sum * 3 + last;
}
