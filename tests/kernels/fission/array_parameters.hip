template <int N> __device__ void load(int (&r)[N], const int* x, int t) {
    for (int i = 0; i < N; ++i) r[i] = x[t + i];
    __syncthreads();
    r[0] += 5;
}
__device__ int total(const int (&r)[4]) { return __shfl_xor(r[0] + r[3], 1); }
__device__ void rows(int (*m)[2], int v) { m[1][0] = __shfl_up(v, 1); }
__global__ void k(const int* x, int* y, int n) {
    int a[4], m[2][2] = {};
    load<4>(a, x, threadIdx.x);
    load(a, x, threadIdx.x + a[1] % 3);
    rows(m, a[2]);
    y[blockIdx.x * 96 + threadIdx.x] = total(a) + a[0] + m[1][0];
}
