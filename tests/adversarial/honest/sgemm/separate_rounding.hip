/*---
launches:
  - kernel: sgemm_plain
    grid: ["ceil_div(M, 16)", "ceil_div(N, 16)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
options: ["-ffp-contract=off", "-O2"]
---*/
// Products and sums rounded apart; x runs over rows, as in Fortran habits.
#define IDX(row, col, ld) ((row) * (ld) + (col))

__global__ void sgemm_plain(const float *A, const float *B, float *C, int M, int N, int K)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    float tmp, prod;

    if (i >= M || j >= N)
        return;

    tmp = 0.0f;
    for (int k = 0; k < K; k++)
    {
        prod = A[IDX(i, k, K)] * B[IDX(k, j, N)];
        tmp = tmp + prod;
    }
    C[IDX(i, j, N)] = tmp;
}
