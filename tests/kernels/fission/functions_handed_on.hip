typedef int (*Fold)(int);
__device__ int sum(int v) {
    for (int o = WAVEFRONT / 2; o; o /= 2) v += __shfl_xor(v, o);
    return v;
}
__device__ int most(int v) {
    for (int o = WAVEFRONT / 2; o; o /= 2) v = max(v, __shfl_xor(v, o));
    return v;
}
template <Fold fold, bool SYNC = false> __device__ int of_block(int v, int none = 0) {
    __shared__ int kept[4];
    v = fold(v);
    if (threadIdx.x % WAVEFRONT == 0) kept[threadIdx.x / WAVEFRONT] = v;
    __syncthreads();
    const int lane = threadIdx.x % WAVEFRONT;
    v = fold(lane < (96 + WAVEFRONT - 1) / WAVEFRONT ? kept[lane] : none);
    if (SYNC) __syncthreads();
    return v;
}
__device__ int place(int v) { return blockIdx.x * blockDim.x + threadIdx.x + v; }
template <typename F> __device__ int placed(F f, int v) { return f(v - 1) + 1; }
template <typename T, T (*F)(T)> __device__ T twice(T v) { return placed(F, v) + F(0); }
__global__ void k(const int* x, int* y, int n) {
    const int t = threadIdx.x < 64 ? x[threadIdx.x] : 0, element = threadIdx.x;
    const int all = of_block<sum, true>(t) + of_block<&most>(t, -1) + element;
    y[(twice<int, place>(0)) / 2] = all;
}
