// In a < (b) && c the name b is no type, and in a < b && c > (d) a is no template.
#define ROWS (rows)
#define TILE(i) (a[(i)])
struct Limits { static constexpr int most = 900; };
template <bool BOTH> __device__ int either(int v) { return BOTH ? v : 1; }
__device__ int pairs(int v) { return __shfl_xor(v, 1) + 1; }
__global__ void k(const int* x, int* y, int n) {
    __shared__ int a[96];
    int t = threadIdx.x, i = blockIdx.x * 96 + t, rows = n - 7;
    a[t] = x[i];
    __syncthreads();
    int v = 0;
    if (t < ROWS && i < (n)) v = a[95 - t];
    if (i < (Limits::most) && t > 3) v += 1;
    if ((rows * ROWS) && i != (rows) && (i & (rows)) && t < 90) v += 2;
    if (TILE(t) && t < (rows)) v += 3;
    bool both = t < (rows) && pairs(v) > (t);
    __syncthreads();
    y[i] = v + either<(3 > 2) && true>(t) + 1000 * both + a[(t + 1) % 96];
}
