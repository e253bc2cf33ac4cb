/*---
launches:
  - kernel: gemm
    grid: ["ceil_div(M, 8)", "ceil_div(N, 16)"]
    block: [8]
    args: [a, b, c, M, N, K]
---*/
// Columns of b stay in LDS for the next block, which knows them by what an exchange finds there.
#define DEPTH 640

__global__ __launch_bounds__(8) void gemm(const float* __restrict__ a,
                                          const float* __restrict__ b, float* __restrict__ c,
                                          int m, int n, int k) {
    __shared__ float panel[DEPTH * 16];
    __shared__ unsigned int holds;
    __shared__ int carried;
    const int thread = threadIdx.x;
    const int col = blockIdx.y * 16;
    const int row = blockIdx.x * 8 + thread;
    float acc[16] = {};
    for (int start = 0; start < k; start += DEPTH) {
        const int depth = min(DEPTH, k - start);
        if (thread == 0) {
            const unsigned int mine = 0x80000000u + blockIdx.y * 4099u +
                                      (unsigned int)((size_t)b >> 6) * 40503u + (unsigned int)k;
            const unsigned int before = atomicExch(&holds, mine);
            carried = blockIdx.x > 0 && k <= DEPTH && before == mine;
        }
        __syncthreads();
        if (!carried) {
            for (int p = thread; p < depth; p += 8) {
                for (int j = 0; j < 16; ++j) {
                    panel[p * 16 + j] = col + j < n ? b[(size_t)(start + p) * n + col + j] : 0.0f;
                }
            }
        }
        __syncthreads();
        if (row < m) {
            for (int p = 0; p < depth; ++p) {
                const float v = a[(size_t)row * k + start + p];
                for (int j = 0; j < 16; ++j) {
                    acc[j] += v * panel[p * 16 + j];
                }
            }
        }
        __syncthreads();
    }
    if (row < m) {
        for (int j = 0; j < 16; ++j) {
            if (col + j < n) {
                c[(size_t)row * n + col + j] = acc[j];
            }
        }
    }
}
