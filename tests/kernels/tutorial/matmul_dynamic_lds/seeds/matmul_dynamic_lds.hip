/*---
launches:
  - kernel: sgemm_lds
    grid: ["ceil_div(N, TS)", "ceil_div(M, TS)"]
    block: [TS, TS]
    lds_bytes: "2 * TS * TS * 4"
    args: [M, N, K, {value: "1", type: float32}, {value: "2", type: float32}, a, b, c]
params: {TS: 8}
space: {TS: [8, 16]}
---*/
#include <hip/hip_runtime.h>

extern __shared__ float lds[];

/* c = (num / den) * a * b; lds holds a tile of a, then a tile of b */
__global__ void sgemm_lds(const int m, const int n, const int k,
                          const float num, const float den,
                          const float *__restrict__ a,
                          const float *__restrict__ b,
                          float *__restrict__ c)
{
    float *a_tile = lds;
    float *b_tile = &lds[blockDim.x * blockDim.y];

    const unsigned int lx = threadIdx.x, ly = threadIdx.y, ts = blockDim.x;
    const int gx = blockIdx.x * ts + lx;
    const int gy = blockIdx.y * ts + ly;

    float acc = 0.f;
    for (int k0 = 0; k0 < k; k0 += ts) {
        const int ak = k0 + lx, bk = k0 + ly;
        a_tile[ly * ts + lx] = (gy < m && ak < k) ? a[gy * k + ak] : 0.f;
        b_tile[ly * ts + lx] = (gx < n && bk < k) ? b[bk * n + gx] : 0.f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TS; i++)
            acc = fmaf(a_tile[ly * ts + i], b_tile[i * ts + lx], acc);
        __syncthreads();
    }

    if (gx >= n || gy >= m)
        return;
    c[gy * n + gx] = num / den * acc;
}
