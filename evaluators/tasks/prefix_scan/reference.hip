/*---
launches:
  - {kernel: scan_blocks, grid: ["ceil_div(N, 1024)"], block: [1024], args: [x, y, N]}
  - {kernel: scan_ends, grid: [1], block: [1024], args: [y, {value: "N // 1024", type: int32}]}
  - {kernel: add_ends, grid: ["ceil_div(N, 1024)"], block: [1024], args: [y, N]}
---*/
// The prefix sum of a block of 1024 threads, in double precision.
__device__ double scanned(double mine) {
    __shared__ double part[1024];
    int t = threadIdx.x;
    __syncthreads();
    part[t] = mine;
    for (int d = 1; d < 1024; d *= 2) {
        __syncthreads();
        double before = t >= d ? part[t - d] : 0.0;
        __syncthreads();
        part[t] += before;
    }
    return part[t];
}

__global__ void scan_blocks(const float* x, double* y, int N) {
    int i = blockIdx.x * 1024 + threadIdx.x;
    double sum = scanned(i < N ? x[i] : 0.0f);
    if (i < N) y[i] = sum;
}

// The last elements of whole blocks become sums of all that is before them: they are final then.
__global__ void scan_ends(double* y, int blocks) {
    __shared__ double before;
    if (threadIdx.x == 0) before = 0;
    for (int first = 0; first < blocks; first += 1024) {
        int block = first + threadIdx.x;
        size_t end = (size_t)block * 1024 + 1023;
        double sum = scanned(block < blocks ? y[end] : 0.0) + before;
        if (block < blocks) y[end] = sum;
        __syncthreads();
        if (threadIdx.x == 1023) before = sum;
    }
}

__global__ void add_ends(double* y, int N) {
    int i = blockIdx.x * 1024 + threadIdx.x;
    if (i < N && threadIdx.x < 1023 && blockIdx.x > 0) y[i] += y[blockIdx.x * 1024 - 1];
}
