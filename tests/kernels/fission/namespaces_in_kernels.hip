namespace own { namespace inner { __device__ int twice(int v) { return 2 * v; } struct Pair { int a, b; }; } }
__global__ void k(const int* x, int* y, int n) {
    namespace in = own::inner;
    using namespace own;
    using own::inner::Pair;
    __shared__ int s[96];
    s[threadIdx.x] = in::twice(x[threadIdx.x]);
    __syncthreads();
    const Pair pair{s[95 - threadIdx.x], inner::twice(n)};
    __syncthreads();
    y[blockIdx.x * 96 + threadIdx.x] = in::twice(pair.a) + pair.b;
}
