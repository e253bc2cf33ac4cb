/*---
launches:
  - kernel: gemm_union
    grid: ["ceil_div(N, 256)", M]
    block: [64]
    args: [a, b, c, M, N, K]
---*/
// Four neighbouring columns a thread, in a union of a float4 and an array.
union Lanes {
    float4 v;
    float e[4];
};

__device__ Lanes fetch(const float* row, int col, int n) {
    Lanes out;
    const bool whole = col + 3 < n && (((unsigned long long)(row + col)) & 15) == 0;
    if (whole) {
        out.v = *(const float4*)(row + col);
    } else {
        for (int i = 0; i < 4; i++) out.e[i] = col + i < n ? row[col + i] : 0.0f;
    }
    return out;
}

__global__ void gemm_union(const float* a, const float* b, float* c, int M, int N, int K) {
    const int col = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    const int row = blockIdx.y;
    if (col >= N) return;
    Lanes sum;
    sum.v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int k = 0; k < K; k++) {
        const float x = a[(size_t)row * K + k];
        const Lanes y = fetch(b + (size_t)k * N, col, N);
        for (int i = 0; i < 4; i++) sum.e[i] += x * y.e[i];
    }
    for (int i = 0; i < 4; i++) {
        if (col + i < N) c[(size_t)row * N + col + i] = sum.e[i];
    }
}
