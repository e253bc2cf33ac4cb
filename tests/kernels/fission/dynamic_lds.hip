extern __shared__ unsigned outside[];
namespace inner {
__device__ unsigned neighbour(int d) { return outside[(threadIdx.x + d) % blockDim.x]; }
}
extern "C" {
__global__ void k(const unsigned* x, unsigned* y, int n) {
    unsigned (*rows)[16] = (unsigned (*)[16])outside;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    rows[threadIdx.x / 16][threadIdx.x % 16] = x[i];
    __syncthreads();
    y[i] = inner::neighbour(7) + rows[threadIdx.x % 6][3];
}
}
