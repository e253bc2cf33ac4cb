// Members of types that are template arguments of helpers, beside locals of the same names.
namespace operations {
struct Largest {
    using type = long long;
    static constexpr int first = -1000000;
    __device__ static int apply(int a, int b) { return a < b ? b : a; }
    template <int N> __device__ static int times(int a) { return a * N; }
};
struct Sum {
    using type = unsigned;
    static constexpr int first = 7;
    __device__ static int apply(int a, int b) { return a + b; }
    template <int N> __device__ static int times(int a) { return a - N; }
};
}  // namespace operations
template <typename Op, int N> __device__ int reduce(int value, int (&s)[N]) {
    typename Op::type kept = Op::apply(Op::first, value);
    const int apply = N / 2;
    s[threadIdx.x] = (int)(kept / 3);
    __syncthreads();
    int first = Op::first;
    for (int i = 0; i < apply; ++i) first = Op::apply(first, s[i]);
    __syncthreads();
    return Op::template times<sizeof(typename Op::type) + 1>(first) + apply;
}
__global__ void k(const int* const __restrict__ x, int* const __restrict y, int n) {
    static __shared__ int s[96];
    const int t = threadIdx.x, first = x[t];
    const int largest = reduce<operations::Largest, 96>(first, s);
    const int sum = reduce<operations::Sum>(first, s);
    y[blockIdx.x * 96 + t] = largest * 3 + sum + ::operations::Sum::first;
}
