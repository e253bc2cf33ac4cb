/*---
launches:
  - kernel: staged
    when: "C <= 8192"
    grid: [R]
    block: [128]
    lds_bytes: "4 * (C + 128)"
    args: [x, y, C]
  - kernel: streamed
    when: "C > 8192"
    grid: [R]
    block: [128]
    lds_bytes: "4 * 128"
    args: [x, y, C]
---*/
// The row is read once into dynamic LDS; rows that do not fit are read three times.
enum Join { SUM, MAX };

template <Join how>
__device__ float join_block(float value, float* area) {
    area[threadIdx.x] = value;
    __syncthreads();
    for (int n = 64; n > 0; n >>= 1) {
        if (threadIdx.x < n) {
            const float other = area[threadIdx.x + n];
            area[threadIdx.x] = how == SUM ? area[threadIdx.x] + other
                                           : fmaxf(area[threadIdx.x], other);
        }
        __syncthreads();
    }
    const float joined = area[0];
    __syncthreads();
    return joined;
}

__global__ void staged(const float* x, float* y, int C) {
    extern __shared__ float shared[];
    float* row = shared + 128;
    const size_t base = (size_t)blockIdx.x * C;
    float largest = -3.402823466e38f;
    for (int i = threadIdx.x; i < C; i += 128) {
        row[i] = x[base + i];
        largest = fmaxf(largest, row[i]);
    }
    largest = join_block<MAX>(largest, shared);
    float sum = 0;
    for (int i = threadIdx.x; i < C; i += 128) sum += row[i] = expf(row[i] - largest);
    sum = join_block<SUM>(sum, shared);
    for (int i = threadIdx.x; i < C; i += 128) y[base + i] = row[i] / sum;
}

__global__ void streamed(const float* x, float* y, int C) {
    extern __shared__ float shared[];
    const size_t base = (size_t)blockIdx.x * C;
    float largest = -3.402823466e38f;
    for (int i = threadIdx.x; i < C; i += 128) largest = fmaxf(largest, x[base + i]);
    largest = join_block<MAX>(largest, shared);
    float sum = 0;
    for (int i = threadIdx.x; i < C; i += 128) sum += expf(x[base + i] - largest);
    sum = join_block<SUM>(sum, shared);
    for (int i = threadIdx.x; i < C; i += 128) y[base + i] = expf(x[base + i] - largest) / sum;
}
