/*---
probe:
  question: Can HIP source reach the tensor cores without assembly, and how fast are they then?
  buffers:
    wrong: {dtype: int32, elements: 32, fill: one}
    out: {elements: "BLOCKS * 256"}
  cases: [{BLOCKS: 1, COUNT: 1}, {BLOCKS: 1056, COUNT: 512}]
  per: "BLOCKS * 8 * COUNT * 4"
  show: {wrong: 32}
launches:
  - {kernel: product, grid: [1], block: [32], args: [wrong]}
  - {kernel: chains, grid: ["BLOCKS"], block: [256], args: [out, COUNT]}
---*/
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

__device__ int number(int row, int column, int salt) {
    unsigned x = row * 2654435761u + column * 40503u + salt * 2246822519u;
    x = (x ^ (x >> 15)) * 2246822519u;
    return x >> 26;
}

__global__ void product(int *wrong) {
    __shared__ __half left[256], right[256];
    __shared__ float sums[256];
    for (int i = threadIdx.x; i < 256; i += 32) {
        left[i] = __float2half((float)number(i / 16, i % 16, 1));
        right[i] = __float2half((float)number(i / 16, i % 16, 2));
    }
    __syncthreads();
    int a[8], b[8];
    float c[8] = {0, 0, 0, 0, 0, 0, 0, 0}, d[8];
    __hmma_m16n16k16_ld_a(a, (const int *)left, 16, 0);
    __hmma_m16n16k16_ld_b(b, (const int *)right, 16, 0);
    __hmma_m16n16k16_mma_f32f32(d, a, b, c, 0, 0);
    __hmma_m16n16k16_st_c_f32(sums, d, 16, 0);
    __syncthreads();
    int count = 0;
    for (int i = threadIdx.x; i < 256; i += 32) {
        int expected = 0;
        for (int k = 0; k < 16; ++k) expected += number(i / 16, k, 1) * number(k, i % 16, 2);
        count += (int)sums[i] != expected;
    }
    wrong[threadIdx.x] = count;
}

// Four chains a warp, of ones and zeros that stay as they are.
__global__ void chains(float *out, int count) {
    int a[8], b[8];
    float sums[4][8];
    for (int i = 0; i < 8; ++i) {
        a[i] = threadIdx.x;
        b[i] = 0;
        for (int chain = 0; chain < 4; ++chain) sums[chain][i] = 0.0f;
    }
    for (int i = 0; i < count; ++i) {
        #pragma unroll
        for (int chain = 0; chain < 4; ++chain)
            __hmma_m16n16k16_mma_f32f32(sums[chain], a, b, sums[chain], 0, 0);
    }
    float sum = 0.0f;
    for (int i = 0; i < 8; ++i) sum += sums[0][i] + sums[1][i] + sums[2][i] + sums[3][i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
