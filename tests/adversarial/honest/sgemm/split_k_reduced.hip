/*---
launches:
  - kernel: partial_product
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)", SPLIT]
    block: [16, 16]
    args: [a, b, parts, M, N, K]
  - kernel: add_parts
    grid: ["ceil_div(M * N, 256)"]
    block: [256]
    args: [parts, c, {value: "M * N", type: int64}]
scratch: {parts: "4 * M * N * SPLIT"}
params: {SPLIT: 4}
space: {SPLIT: [1, 2, 4, 8]}
variants:
  - {when: "M * N >= 4000000", params: {SPLIT: 1}}
  - {when: "K < 32", params: {SPLIT: 2}}
---*/
// K in SPLIT contiguous parts, each by a layer of blocks into scratch; a second launch adds them
// in a fixed order, so that the result is the same each time.
__global__ void partial_product(const float* __restrict__ a, const float* __restrict__ b,
                                float* __restrict__ parts, int M, int N, int K) {
    __shared__ float sa[16][17];
    __shared__ float sb[16][17];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    const int length = (K + SPLIT - 1) / SPLIT;
    const int first = blockIdx.z * length;
    const int last = min(K, first + length);
    float sum = 0.0f;
    for (int k = first; k < last; k += 16) {
        sa[y][x] = row < M && k + x < last ? a[(size_t)row * K + k + x] : 0.0f;
        sb[y][x] = col < N && k + y < last ? b[(size_t)(k + y) * N + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += sa[y][i] * sb[i][x];
        __syncthreads();
    }
    if (row < M && col < N) parts[((size_t)blockIdx.z * M + row) * N + col] = sum;
}

__global__ void add_parts(const float* __restrict__ parts, float* __restrict__ c,
                          long long size) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    float sum = parts[i];
#pragma unroll
    for (int s = 1; s < SPLIT; ++s) sum += parts[s * size + i];
    c[i] = sum;
}
