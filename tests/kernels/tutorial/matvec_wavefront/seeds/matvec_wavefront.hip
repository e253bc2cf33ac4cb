/*---
launches:
  - kernel: gemv_n
    grid: ["ceil_div(M, 2)"]
    block: ["2 * WAVE_THREADS"]
    args: [M, N, {value: "2", type: float32}, A, x, y]
params: {WAVE_THREADS: 64}
---*/
#include <hip/hip_runtime.h>

// A block owns two rows. On hardware with narrow wavefronts, the spare wavefronts
// of the block only help to stage x.
#define ROWS_PER_BLOCK 2
#define CHUNK 128

__device__ __forceinline__ float wave_sum(float v)
{
    for (int offset = WAVEFRONT / 2; offset > 0; offset >>= 1) {
        v += __shfl_xor(v, offset, WAVEFRONT);
    }
    return v;
}

__global__ void gemv_n(int m, int n, float alpha, const float* A, const float* x, float* y)
{
    __shared__ float xs[CHUNK];

    const int lane_id = threadIdx.x & (WAVEFRONT - 1);
    const int wave_id = threadIdx.x / WAVEFRONT;
    const int row     = blockIdx.x * ROWS_PER_BLOCK + wave_id;
    const bool active = wave_id < ROWS_PER_BLOCK && row < m;

    float acc = 0.f;
    for (int base = 0; base < n; base += CHUNK) {
        const int len = min(CHUNK, n - base);

        __syncthreads();
        for (int i = threadIdx.x; i < len; i += blockDim.x) {
            xs[i] = x[base + i];
        }
        __syncthreads();

        if (active) {
            for (int i = lane_id; i < len; i += WAVEFRONT) {
                acc += A[row * n + base + i] * xs[i];
            }
        }
    }

    if (active) {
        acc = wave_sum(acc);
        if (lane_id == 0) {
            y[row] += alpha * acc;
        }
    }
}
