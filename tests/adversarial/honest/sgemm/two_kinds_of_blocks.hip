/*---
launches:
  - kernel: gemm_kinds
    grid: ["ceil_div(N, 32)", "ceil_div(M, 32)"]
    block: [256]
    args: [a, b, c, M, N, K]
---*/
// Blocks inside the matrix take one way, those at its edge another; both wait.
#define TS 32

typedef float Tile[TS][TS + 1];

template <bool EDGE>
__device__ void fetch(Tile& to, const float* from, int row0, int col0, int rows, int cols) {
    for (int i = threadIdx.x; i < TS * TS; i += 256) {
        const int r = i / TS, c = i % TS;
        if constexpr (EDGE) {
            const bool inside = row0 + r < rows && col0 + c < cols;
            to[r][c] = inside ? from[(size_t)(row0 + r) * cols + col0 + c] : 0.0f;
        } else {
            to[r][c] = from[(size_t)(row0 + r) * cols + col0 + c];
        }
    }
}

__device__ void multiply(float (&sum)[4], const Tile& left, const Tile& right, int depth) {
    const int col = threadIdx.x % TS, row = threadIdx.x / TS;
    for (int k = 0; k < depth; ++k)
        for (int i = 0; i < 4; ++i) sum[i] += left[row + 8 * i][k] * right[k][col];
}

__global__ void gemm_kinds(const float* a, const float* b, float* c, int M, int N, int K) {
    __shared__ Tile left, right;
    const int m0 = blockIdx.y * TS, n0 = blockIdx.x * TS;
    float sum[4] = {};
    if (m0 + TS <= M && n0 + TS <= N && K % TS == 0) {
        for (int k0 = 0; k0 < K; k0 += TS) {
            fetch<false>(left, a, m0, k0, M, K);
            fetch<false>(right, b, k0, n0, K, N);
            __syncthreads();
            multiply(sum, left, right, TS);
            __syncthreads();
        }
    } else {
        for (int k0 = 0; k0 < K; k0 += TS) {
            fetch<true>(left, a, m0, k0, M, K);
            fetch<true>(right, b, k0, n0, K, N);
            __syncthreads();
            multiply(sum, left, right, min(TS, K - k0));
            __syncthreads();
        }
    }
    const int n = n0 + threadIdx.x % TS;
    for (int i = 0; i < 4; ++i) {
        const int m = m0 + threadIdx.x / TS + 8 * i;
        if (m < M && n < N) c[(size_t)m * N + n] = sum[i];
    }
}
