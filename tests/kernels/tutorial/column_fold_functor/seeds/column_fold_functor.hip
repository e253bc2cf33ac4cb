/*---
launches:
  - kernel: fold_columns<float, Sum>
    grid: ["ceil_div(COLS, 16)"]
    block: [16, 16]
    args: [x, sums, ROWS, COLS]
  - kernel: fold_columns<float, Max>
    grid: ["ceil_div(COLS, 16)"]
    block: [16, 16]
    args: [x, peaks, ROWS, COLS]
  - kernel: fold_columns<float, Growth>
    grid: ["ceil_div(COLS, 16)"]
    block: [16, 16]
    args: [x, growth, ROWS, COLS]
---*/
#include <hip/hip_runtime.h>

struct Sum {
  static __device__ float identity() { return 0.0f; }
  static __device__ float map(float v) { return v; }
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct Max {
  static __device__ float identity() { return -3.4e38f; }
  static __device__ float map(float v) { return v; }
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};

struct Growth {
  static __device__ float identity() { return 1.0f; }
  static __device__ float map(float v) { return 1.0f + v * 0.125f; }
  __device__ float operator()(float a, float b) const { return a * b; }
};

// Fold values[0..count) at distance stride by halving; all threads of the block call it.
template <typename T, typename Op>
__device__ T fold_shared(T* values, int stride, int position, int count, Op op) {
  __syncthreads();
  while (count > 1) {
    count /= 2;
    if (position < count) {
      values[position * stride] = op(values[position * stride], values[(position + count) * stride]);
    }
    __syncthreads();
  }
  return values[0];
}

template <typename T, typename Op>
__global__ void fold_columns(const T* in, T* out, int rows, int cols) {
  __shared__ T tile[16][17];
  Op op;
  const int x = threadIdx.x, y = threadIdx.y;
  const int col = blockIdx.x * 16 + x;

  T acc = Op::identity();
  if (col < cols) {
    for (int r = y; r < rows; r += 16) acc = op(acc, Op::map(in[r * cols + col]));
  }
  tile[y][x] = acc;

  const T result = fold_shared(&tile[0][x], 17, y, 16, op);
  if (y == 0 && col < cols) out[col] = result;
}
