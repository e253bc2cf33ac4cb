/*---
launches:
  - kernel: scan_blocks
    grid: ["ceil_div(N, 1024)"]
    block: [1024]
    args: [x, y, sums, N]
  - kernel: scan_sums
    grid: [1]
    block: [1024]
    args: [sums, {value: "ceil_div(N, 1024)", type: int32}]
  - kernel: add_sums
    grid: ["ceil_div(N, 1024)"]
    block: [1024]
    args: [y, sums, N]
scratch: {sums: "4 * ceil_div(N, 1024)"}
---*/
// Hillis and Steele's scan of 1024 elements in LDS: in step d each adds what lies d before it.
__device__ float scan_of_block(float* part, float mine) {
    int t = threadIdx.x;
    part[t] = mine;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        float before = t >= d ? part[t - d] : 0.0f;
        __syncthreads();
        part[t] += before;
        __syncthreads();
    }
    return part[t];
}

// Blocks are scanned, then the sums of the blocks by one block, then added to the blocks.
__global__ void scan_blocks(const float* x, float* y, float* sums, int N) {
    __shared__ float part[1024];
    int i = blockIdx.x * 1024 + threadIdx.x;
    float sum = scan_of_block(part, i < N ? x[i] : 0.0f);
    if (i < N) {
        y[i] = sum;
    }
    if (threadIdx.x == 1023) {
        sums[blockIdx.x] = sum;
    }
}

__global__ void scan_sums(float* sums, int count) {
    __shared__ float part[1024];
    float before = 0.0f;
    for (int first = 0; first < count; first += 1024) {
        int i = first + threadIdx.x;
        float sum = scan_of_block(part, i < count ? sums[i] : 0.0f);
        if (i < count) {
            sums[i] = before + sum;
        }
        before += part[1023];
        __syncthreads();
    }
}

__global__ void add_sums(float* y, const float* sums, int N) {
    int i = blockIdx.x * 1024 + threadIdx.x;
    if (i < N && blockIdx.x > 0) {
        y[i] += sums[blockIdx.x - 1];
    }
}
