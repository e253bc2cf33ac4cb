/*---
launches:
  - kernel: jacobi
    grid: [ROWS]
    block: [128]
    lds_bytes: "2 * 4 * COLS"
    args: [u, COLS, STEPS]
---*/
#include <hip/hip_runtime.h>

extern __shared__ float shmem[];

__device__ void sweep(const float* from, float* to, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (i == 0 || i == n - 1)
            to[i] = from[i];
        else
            to[i] = 0.25f * from[i - 1] + 0.5f * from[i] + 0.25f * from[i + 1];
    }
    __syncthreads();
}

__global__ void jacobi(float* u, int n, int steps)
{
    float* ping = shmem;
    float* pong = shmem + n;
    float* row  = u + blockIdx.x * n;

    for (int i = threadIdx.x; i < n; i += blockDim.x) ping[i] = row[i];
    __syncthreads();

    for (int step = 0; step < steps; ++step) {
        sweep(ping, pong, n);
        float* swap = ping;
        ping = pong;
        pong = swap;
    }

    for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] = ping[i];
}
