/*---
launches:
  - kernel: gemm_pairwise
    grid: ["ceil_div(N, 64)", "ceil_div(M, 2)"]
    block: [64, 2]
    args: [a, b, c, M, N, K]
---*/
// Chunks of 16 products are added one after another, and their sums as a binary counter carries:
// pairwise summation without recursion. 2^28 products fit.
__device__ inline float chunk(const float* a, const float* b, int stride, int count) {
    float sum = 0.0f;
    for (int k = 0; k < count; ++k) sum = fmaf(a[k], b[(size_t)k * stride], sum);
    return sum;
}

__global__ void gemm_pairwise(const float* a, const float* b, float* c, int M, int N, int K) {
    int col = threadIdx.x + blockIdx.x * blockDim.x;
    int row = threadIdx.y + blockIdx.y * blockDim.y;
    if (col >= N || row >= M) return;
    const float* left = a + (size_t)row * K;
    const float* right = b + col;
    float level[24];
    for (int i = 0; i < 24; ++i) level[i] = 0.0f;
    unsigned count = 0;
    for (int k = 0; k < K; k += 16) {
        float carry = chunk(left + k, right + (size_t)k * N, N, min(16, K - k));
        int i = 0;
        for (unsigned bits = count; bits & 1u; bits >>= 1) {
            carry += level[i];
            level[i++] = 0.0f;
        }
        level[i] = carry;
        ++count;
    }
    float total = 0.0f;
    for (int i = 0; i < 24; ++i) total += level[i];
    c[(size_t)row * N + col] = total;
}
