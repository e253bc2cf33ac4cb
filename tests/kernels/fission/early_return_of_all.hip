__device__ void f(const int* x, int* y, int n) {
    if (blockIdx.y > blockIdx.x) return;
    __shared__ int s[96];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x >= 32) return;
    y[blockIdx.x * 96 + threadIdx.x] = s[threadIdx.x + 1];
}
__global__ void k(const int* x, int* y, int n) { f(x, y, n); if (threadIdx.x == 50) y[blockIdx.x * 96 + 50] = 7; }
