/*---
launches:
  - kernel: gemm_kahan
    grid: ["ceil_div(N, 32)", "ceil_div(M, 4)"]
    block: [32, 4]
    args: [a, b, c, M, N, K]
options: ["-ffp-contract=off"]
---*/
// Kahan's compensated summation of each dot product.
struct Compensated {
    float sum, lost;
    __device__ Compensated() : sum(0.0f), lost(0.0f) {}
    __device__ Compensated& operator+=(float term) {
        const float y = term - lost;
        const float t = sum + y;
        lost = (t - sum) - y;
        sum = t;
        return *this;
    }
};

__global__ void gemm_kahan(const float* a, const float* b, float* c, int M, int N, int K) {
    const unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < (unsigned)M && col < (unsigned)N) {
        Compensated total;
        for (int k = 0; k < K; k++) total += a[row * (size_t)K + k] * b[k * (size_t)N + col];
        c[row * (size_t)N + col] = total.sum;
    }
}
