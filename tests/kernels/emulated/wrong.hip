// Kernels with a mistake that a run in order, or one of floats, may hide.
#include <hip/hip_fp16.h>

// Wavefronts that come later read what is there already, in order; no barrier says so.
template <typename T> __global__ void no_barrier(const T *x, T *y) {
    __shared__ T tile[320];
    const int t = threadIdx.x;
    if (t < 64) tile[t] = 0;
    tile[t + 64] = x[t];
    y[t] = tile[t];
}

template <typename T> __global__ void one_barrier_of_two(const T *x, T *y) {
    __shared__ T tile[256];
    const int t = threadIdx.x;
    T sum = 0;
    for (int round = 0; round < 4; ++round) {
        tile[t] = x[t] + (T)round;
        __syncthreads();
        sum += tile[255 - t];
    }
    y[t] = sum;
}

// The product's first rows are those that nobody wrote.
typedef float float4v __attribute__((ext_vector_type(4)));
__global__ void unwritten_rows(const float *x, float *y) {
    __shared__ float tile[16][4];
    const int lane = threadIdx.x;
    if (lane >= 16) tile[lane / 4][lane % 4] = x[lane];
    __syncthreads();
    const float mine = tile[lane & 15][lane >> 4];
    float4v sums = {0, 0, 0, 0};
    sums = __builtin_amdgcn_mfma_f32_16x16x4f32(mine, 1.0f, sums, 0, 0, 0);
    for (int i = 0; i < 4; ++i) y[((lane >> 4) * 4 + i) * 16 + (lane & 15)] = sums[i];
}

__global__ void index_unwritten(const int *x, int *y) {
    __shared__ int tile[64];
    const int t = threadIdx.x;
    if (t < 63) tile[t] = t;
    __syncthreads();
    y[t] = x[tile[t] & 63];
}

__global__ void branch_unwritten(const int *x, int *y) {
    __shared__ int tile[64];
    const int t = threadIdx.x;
    if (t < 63) tile[t] = x[t];
    __syncthreads();
    int steps = 0;
    for (int left = tile[t] & 15; left > 0; --left) steps += x[left];
    y[t] = steps;
}
