/*---
launches:
  - kernel: sgemm_grouped
    grid: ["ceil_div(M, BLOCK_M) * ceil_div(N, BLOCK_N)"]
    block: [128]
    args: [a, b, c, M, N, K]
params: {BLOCK_M: 32, BLOCK_N: 64, GROUP_M: 8}
space: {GROUP_M: [1, 4, 8]}
---*/
// Blocks in groups of GROUP_M rows, so that neighbours share panels in the cache.
#define BLOCK_K 16

__global__ void sgemm_grouped(const float* __restrict__ a_ptr, const float* __restrict__ b_ptr,
                              float* __restrict__ c_ptr, int M, int N, int K) {
    const int pid = blockIdx.x;
    const int num_pid_m = (M + BLOCK_M - 1) / BLOCK_M;
    const int num_pid_n = (N + BLOCK_N - 1) / BLOCK_N;
    const int num_pid_in_group = GROUP_M * num_pid_n;
    const int group_id = pid / num_pid_in_group;
    const int first_pid_m = group_id * GROUP_M;
    const int group_size_m = min(num_pid_m - first_pid_m, GROUP_M);
    const int pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m);
    const int pid_n = (pid % num_pid_in_group) / group_size_m;

    __shared__ float a_tile[BLOCK_K][BLOCK_M + 4];
    __shared__ float b_tile[BLOCK_K][BLOCK_N];
    const int tid = threadIdx.x;
    const int tm = (tid / 16) * 4, tn = (tid % 16) * 4;
    float acc[4][4] = {{0.f}};

    for (int k0 = 0; k0 < K; k0 += BLOCK_K) {
        for (int e = tid; e < BLOCK_M * BLOCK_K; e += 128) {
            const int m = e / BLOCK_K, k = e % BLOCK_K;
            const int gm = pid_m * BLOCK_M + m, gk = k0 + k;
            a_tile[k][m] = (gm < M && gk < K) ? __ldg(&a_ptr[(size_t)gm * K + gk]) : 0.f;
        }
        for (int e = tid; e < BLOCK_K * BLOCK_N; e += 128) {
            const int k = e / BLOCK_N, n = e % BLOCK_N;
            const int gk = k0 + k, gn = pid_n * BLOCK_N + n;
            b_tile[k][n] = (gk < K && gn < N) ? __ldg(&b_ptr[(size_t)gk * N + gn]) : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BLOCK_K; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] += a_tile[k][tm + i] * b_tile[k][tn + j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const int gm = pid_m * BLOCK_M + tm + i, gn = pid_n * BLOCK_N + tn + j;
            if (gm < M && gn < N) c_ptr[(size_t)gm * N + gn] = acc[i][j];
        }
}
