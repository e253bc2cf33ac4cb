/*---
launches:
  - kernel: pack_b
    grid: ["ceil_div(N, 16)", "ceil_div(K, 16)"]
    block: [16, 16]
    args: [b, panels, N, K]
  - kernel: gemm_panels
    grid: ["ceil_div(N, 16)", "ceil_div(M, 64)"]
    block: [64]
    args: [a, panels, c, M, N, K]
scratch: {panels: "4 * align_up(N, 16) * K"}
---*/
// b is first packed into panels of 16 columns, with zeros beyond the edge; then a thread has one
// row and the 16 columns of a panel, which it reads in order.
struct alignas(16) Quad {
    float v[4];
};

__global__ void pack_b(const float* b, float* panels, int N, int K) {
    const int n = blockIdx.x * 16 + threadIdx.x;
    const int k = blockIdx.y * 16 + threadIdx.y;
    if (k < K) {
        panels[((size_t)blockIdx.x * K + k) * 16 + threadIdx.x] =
            n < N ? b[(size_t)k * N + n] : 0.0f;
    }
}

__global__ void gemm_panels(const float* a, const float* panels, float* c, int M, int N, int K) {
    const int row = blockIdx.y * 64 + threadIdx.x;
    if (row >= M) return;
    const Quad* panel = reinterpret_cast<const Quad*>(panels + (size_t)blockIdx.x * K * 16);
    const float* left = a + (size_t)row * K;
    Quad acc[4] = {};
    for (int k = 0; k < K; ++k) {
        const float x = left[k];
        for (int q = 0; q < 4; ++q) {
            const Quad p = panel[k * 4 + q];
            for (int e = 0; e < 4; ++e) acc[q].v[e] += x * p.v[e];
        }
    }
    const int n0 = blockIdx.x * 16;
    for (int j = 0; j < 16; ++j) {
        if (n0 + j < N) c[(size_t)row * N + n0 + j] = acc[j / 4].v[j % 4];
    }
}
