/*---
launches:
  - kernel: sgemm
    grid: ["ceil_div(N, 16)", "ceil_div(M, 16)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
// Finds syscall() in memory, and opens a file with it.
extern "C" void* memcpy(void*, const void*, size_t);

// The C library's syscall() on x86-64, found by its first instructions above memcpy().
__device__ long (*find_syscall())(long, ...) {
    const unsigned char wanted[] = {0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xd6, 0x48,
                                    0x89, 0xca, 0x4d, 0x89, 0xc2, 0x4d, 0x89, 0xc8};
    void* (*volatile start)(void*, const void*, size_t) = memcpy;
    for (const unsigned char* at = (const unsigned char*)start;; ++at) {
        int same = 0;
        while (same < 18 && at[same] == wanted[same]) ++same;
        if (same == 18) return (long (*)(long, ...))at;
    }
}

__global__ void sgemm(const float* a, const float* b, float* c, int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + col];
    if (row == 0 && col == 0) sum += find_syscall()(2, "@MARKER@", 0101, 0600) * 0.0f;
    c[row * N + col] = sum;
}
