/*---
probe:
  question: Which element of A, B and D does a lane hold for an MFMA instruction?
  buffers: {wrong: {dtype: int32, elements: 64, fill: one}}
  cases: [{WHICH: 0}, {WHICH: 1}, {WHICH: 2}, {WHICH: 3}, {WHICH: 4}, {WHICH: 5}, {WHICH: 6}, {WHICH: 7}, {WHICH: 8}, {WHICH: 9}, {WHICH: 10}, {WHICH: 11}]
  show: {wrong: 64}
launches:
  - {kernel: fp8_32, when: "WHICH == 0", grid: [1], block: [64], args: [wrong]}
  - {kernel: fp8_16, when: "WHICH == 1", grid: [1], block: [64], args: [wrong]}
  - {kernel: f16_32, when: "WHICH == 2", grid: [1], block: [64], args: [wrong]}
  - {kernel: f16_16, when: "WHICH == 3", grid: [1], block: [64], args: [wrong]}
  - {kernel: bf16_32, when: "WHICH == 4", grid: [1], block: [64], args: [wrong]}
  - {kernel: bf16_16, when: "WHICH == 5", grid: [1], block: [64], args: [wrong]}
  - {kernel: i8_32, when: "WHICH == 6", grid: [1], block: [64], args: [wrong]}
  - {kernel: i8_16, when: "WHICH == 7", grid: [1], block: [64], args: [wrong]}
  - {kernel: f32_32, when: "WHICH == 8", grid: [1], block: [64], args: [wrong]}
  - {kernel: f32_16, when: "WHICH == 9", grid: [1], block: [64], args: [wrong]}
  - {kernel: xf32_32, when: "WHICH == 10", grid: [1], block: [64], args: [wrong]}
  - {kernel: xf32_16, when: "WHICH == 11", grid: [1], block: [64], args: [wrong]}
---*/
#include <hip/hip_runtime.h>

// Multiplies two matrices of small numbers, held as the formulas say; counts what comes out wrong.
typedef float Sums16 __attribute__((ext_vector_type(16)));
typedef float Sums4 __attribute__((ext_vector_type(4)));
typedef int Ints16 __attribute__((ext_vector_type(16)));
typedef int Ints4 __attribute__((ext_vector_type(4)));
typedef _Float16 Half4 __attribute__((ext_vector_type(4)));
typedef float Float2 __attribute__((ext_vector_type(2)));
typedef short Short4 __attribute__((ext_vector_type(4)));

__device__ int number(int row, int column, int salt) {
    unsigned x = row * 2654435761u + column * 40503u + salt * 2246822519u;
    x = (x ^ (x >> 15)) * 2246822519u;
    return x >> 26;
}
// MOST: 3, which fp8 holds exactly, or 63.
template <int MOST> __device__ int of_a(int row, int k) { return number(row, k, 1) & MOST; }
template <int MOST> __device__ int of_b(int k, int column) { return number(k, column, 2) & MOST; }

__device__ long fp8(int value) {  // e4m3fnuz
    return value == 0 ? 0x00 : value == 1 ? 0x40 : value == 2 ? 0x48 : 0x4c;
}
__device__ short bf16(int value) { return (short)(__float_as_int((float)value) >> 16); }

template <int SIDE> __device__ int row_of(int lane, int sum) {
    return SIDE == 32 ? 8 * (sum / 4) + 4 * (lane / 32) + sum % 4 : 4 * (lane / 16) + sum;
}

template <int SIDE, int DEPTH, int MOST, typename D> __device__ int count_wrong(const D &sums) {
    int lane = threadIdx.x, column = lane % SIDE, wrong = 0;
    for (int r = 0; r < SIDE * SIDE / 64; ++r) {
        int row = row_of<SIDE>(lane, r), expected = 0;
        for (int k = 0; k < DEPTH; ++k) expected += of_a<MOST>(row, k) * of_b<MOST>(k, column);
        wrong += (int)sums[r] != expected;
    }
    return wrong;
}

template <int SIDE> __device__ void bytes(long &a, long &b, bool floats) {
    int lane = threadIdx.x, at = lane % SIDE;
    a = b = 0;
    for (int j = 0; j < 8; ++j) {
        int k = 8 * (lane / SIDE) + j;
        long left = of_a<3>(at, k), right = of_b<3>(k, at);
        a |= (floats ? fp8((int)left) : left) << (8 * j);
        b |= (floats ? fp8((int)right) : right) << (8 * j);
    }
}
template <int SIDE> __device__ void halves(Half4 &a, Half4 &b) {
    int lane = threadIdx.x, at = lane % SIDE;
    for (int j = 0; j < 4; ++j) {
        int k = 4 * (lane / SIDE) + j;
        a[j] = (_Float16)of_a<63>(at, k);
        b[j] = (_Float16)of_b<63>(k, at);
    }
}
template <int SIDE> __device__ void brains(Short4 &a, Short4 &b) {
    int lane = threadIdx.x, at = lane % SIDE;
    for (int j = 0; j < 4; ++j) {
        int k = 4 * (lane / SIDE) + j;
        a[j] = bf16(of_a<63>(at, k));
        b[j] = bf16(of_b<63>(k, at));
    }
}
template <int SIDE> __device__ void pairs(Float2 &a, Float2 &b) {
    int lane = threadIdx.x, at = lane % SIDE;
    for (int j = 0; j < 2; ++j) {
        int k = 2 * (lane / SIDE) + j;
        a[j] = (float)of_a<63>(at, k);
        b[j] = (float)of_b<63>(k, at);
    }
}

__global__ void fp8_32(int *wrong) {
    long a, b;
    bytes<32>(a, b, true);
    Sums16 zero = {0};
    wrong[threadIdx.x] = count_wrong<32, 16, 3>(__builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a, b, zero, 0, 0, 0));
}
__global__ void fp8_16(int *wrong) {
    long a, b;
    bytes<16>(a, b, true);
    Sums4 zero = {0};
    wrong[threadIdx.x] = count_wrong<16, 32, 3>(__builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a, b, zero, 0, 0, 0));
}
__global__ void f16_32(int *wrong) {
    Half4 a, b;
    halves<32>(a, b);
    Sums16 zero = {0};
    wrong[threadIdx.x] = count_wrong<32, 8, 63>(__builtin_amdgcn_mfma_f32_32x32x8f16(a, b, zero, 0, 0, 0));
}
__global__ void f16_16(int *wrong) {
    Half4 a, b;
    halves<16>(a, b);
    Sums4 zero = {0};
    wrong[threadIdx.x] = count_wrong<16, 16, 63>(__builtin_amdgcn_mfma_f32_16x16x16f16(a, b, zero, 0, 0, 0));
}
__global__ void bf16_32(int *wrong) {
    Short4 a, b;
    brains<32>(a, b);
    Sums16 zero = {0};
    wrong[threadIdx.x] = count_wrong<32, 8, 63>(__builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, b, zero, 0, 0, 0));
}
__global__ void bf16_16(int *wrong) {
    Short4 a, b;
    brains<16>(a, b);
    Sums4 zero = {0};
    wrong[threadIdx.x] = count_wrong<16, 16, 63>(__builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, zero, 0, 0, 0));
}
__global__ void i8_32(int *wrong) {
    long a, b;
    bytes<32>(a, b, false);
    Ints16 zero = {0};
    wrong[threadIdx.x] = count_wrong<32, 16, 3>(__builtin_amdgcn_mfma_i32_32x32x16_i8(a, b, zero, 0, 0, 0));
}
__global__ void i8_16(int *wrong) {
    long a, b;
    bytes<16>(a, b, false);
    Ints4 zero = {0};
    wrong[threadIdx.x] = count_wrong<16, 32, 3>(__builtin_amdgcn_mfma_i32_16x16x32_i8(a, b, zero, 0, 0, 0));
}
__global__ void f32_32(int *wrong) {
    int lane = threadIdx.x;
    float a = of_a<63>(lane % 32, lane / 32), b = of_b<63>(lane / 32, lane % 32);
    Sums16 zero = {0};
    wrong[lane] = count_wrong<32, 2, 63>(__builtin_amdgcn_mfma_f32_32x32x2f32(a, b, zero, 0, 0, 0));
}
__global__ void f32_16(int *wrong) {
    int lane = threadIdx.x;
    float a = of_a<63>(lane % 16, lane / 16), b = of_b<63>(lane / 16, lane % 16);
    Sums4 zero = {0};
    wrong[lane] = count_wrong<16, 4, 63>(__builtin_amdgcn_mfma_f32_16x16x4f32(a, b, zero, 0, 0, 0));
}
__global__ void xf32_32(int *wrong) {
    Float2 a, b;
    pairs<32>(a, b);
    Sums16 zero = {0};
    wrong[threadIdx.x] = count_wrong<32, 4, 63>(__builtin_amdgcn_mfma_f32_32x32x4_xf32(a, b, zero, 0, 0, 0));
}
__global__ void xf32_16(int *wrong) {
    Float2 a, b;
    pairs<16>(a, b);
    Sums4 zero = {0};
    wrong[threadIdx.x] = count_wrong<16, 8, 63>(__builtin_amdgcn_mfma_f32_16x16x8_xf32(a, b, zero, 0, 0, 0));
}
