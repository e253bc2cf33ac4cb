/*---
launches:
  - kernel: sgemm2DBlocktiling<BM, BN, BK, TM, TN>
    grid: ["ceil_div(N, BN)", "ceil_div(M, BM)"]
    block: ["(BM * BN) // (TM * TN)"]
    args: [M, N, K, a, b, c]
params: {BM: 64, BN: 64, BK: 8, TM: 4, TN: 4}
space: {BM: [32, 64, 128], BN: [32, 64, 128], BK: [8, 16], TM: [4, 8], TN: [4, 8]}
constraints: ["BM * BN >= 64 * TM * TN", "BM * BN <= 1024 * TM * TN"]
variants: [{when: "M < 64", params: {BM: 32}}]
---*/
// A tile of outputs a thread, from tiles in LDS, as worklogs on fast SGEMM have it.
template <const int blockM, const int blockN, const int blockK, const int threadM, const int threadN>
__global__ void __launch_bounds__((blockM * blockN) / (threadM * threadN), 1)
sgemm2DBlocktiling(int M, int N, int K, const float *A, const float *B, float *C) {
    const unsigned cRow = blockIdx.y;
    const unsigned cCol = blockIdx.x;
    const int numThreads = (blockM * blockN) / (threadM * threadN);
    const int threadCol = threadIdx.x % (blockN / threadN);
    const int threadRow = threadIdx.x / (blockN / threadN);

    __shared__ float As[blockM * blockK];
    __shared__ float Bs[blockK * blockN];

    float threadResults[threadM * threadN] = {0.0};
    float regM[threadM] = {0.0};
    float regN[threadN] = {0.0};

    for (int bkIdx = 0; bkIdx < K; bkIdx += blockK) {
        for (int i = threadIdx.x; i < blockM * blockK; i += numThreads) {
            const int r = cRow * blockM + i / blockK, k = bkIdx + i % blockK;
            As[i] = r < M && k < K ? A[(long long)r * K + k] : 0.0f;
        }
        for (int i = threadIdx.x; i < blockK * blockN; i += numThreads) {
            const int k = bkIdx + i / blockN, n = cCol * blockN + i % blockN;
            Bs[i] = k < K && n < N ? B[(long long)k * N + n] : 0.0f;
        }
        __syncthreads();
        for (int dotIdx = 0; dotIdx < blockK; ++dotIdx) {
            for (int i = 0; i < threadM; ++i)
                regM[i] = As[(threadRow * threadM + i) * blockK + dotIdx];
            for (int i = 0; i < threadN; ++i)
                regN[i] = Bs[dotIdx * blockN + threadCol * threadN + i];
            for (int resIdxM = 0; resIdxM < threadM; ++resIdxM)
                for (int resIdxN = 0; resIdxN < threadN; ++resIdxN)
                    threadResults[resIdxM * threadN + resIdxN] += regM[resIdxM] * regN[resIdxN];
        }
        __syncthreads();
    }
    for (int i = 0; i < threadM; ++i) {
        const int r = cRow * blockM + threadRow * threadM + i;
        for (int j = 0; j < threadN; ++j) {
            const int n = cCol * blockN + threadCol * threadN + j;
            if (r < M && n < N) C[(long long)r * N + n] = threadResults[i * threadN + j];
        }
    }
}
