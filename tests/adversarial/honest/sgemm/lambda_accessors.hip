/*---
launches:
  - kernel: gemm_lambda
    grid: ["ceil_div(N, 32)", "ceil_div(M, 32)"]
    block: [32, 8]
    args: [a, b, c, {value: "M", type: int64}, {value: "N", type: int64}, {value: "K", type: int64}]
---*/
// Edges are hidden in lambdas; all sizes are 64-bit.
__global__ void gemm_lambda(const float* a, const float* b, float* c, long long M, long long N,
                            long long K) {
    const long long col = (long long)blockIdx.x * 32 + threadIdx.x;
    const long long first = (long long)blockIdx.y * 32 + threadIdx.y;
    auto left = [=](long long row, long long k) { return row < M ? a[row * K + k] : 0.0f; };
    auto right = [&](long long k) { return col < N ? b[k * N + col] : 0.0f; };
    auto store = [&](long long row, float value) {
        if (row < M && col < N) c[row * N + col] = value;
    };
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    for (long long k = 0; k < K; ++k) {
        const float v = right(k);
        s0 += left(first, k) * v;
        s1 += left(first + 8, k) * v;
        s2 += left(first + 16, k) * v;
        s3 += left(first + 24, k) * v;
    }
    store(first, s0);
    store(first + 8, s1);
    store(first + 16, s2);
    store(first + 24, s3);
}
