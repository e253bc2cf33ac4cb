// Braces, several declarators, types declared with their variable, bounds that hold a sign '>'.
template <int B> __device__ int part(int v) {
    int b[B > 0 ? B : 16] = {};
    b[0] = v;
    __syncthreads();
    return b[0] + B;
}
__device__ int rows(int m[][2], int v) {
    m[1][0] = __shfl_up(v, 1);
    return m[1][0] + m[0][1];
}
__global__ void k(const int* x, int* y, int n) {
    constexpr int A = 3, B = 5;
    __shared__ int s[96], u[96 + B];
    auto first{x[threadIdx.x]};
    int a{first + 1}, b = a + A, *p = &b, c[B > 2 ? 2 : 9] = {a, b}, z(a + 4);
    const int d = a * 2, e = d + B;
    struct { int a, b; } v;
    union { float f; int i; } bits;
    struct Pair { int q, r; } pair = {4, a}, twin{};
    v.a = first, v.b = 3;
    bits.f = 1.5f + v.a;
    s[threadIdx.x] = a, u[threadIdx.x] = b;
    __syncthreads();
    for (int i = 0, j = 5; i < 3; ++i, j -= 2) {
        c[i & 1] += j * e;
        __syncthreads();
    }
    if (a % 2) {
        struct Local { int l; } local = {c[0]}, other = local;
        auto sum{local.l + other.l};
        c[1] += sum;
    }
    v.b += __shfl_xor(v.a, 1);
    int m[3][2] = {{1, 2}, {3, 4}};
    *p += s[(threadIdx.x + 1) % 96] + u[(threadIdx.x + 2) % 96] + rows(m, c[1]);
    twin.q = part<2>(b);
    y[blockIdx.x * 96 + threadIdx.x] =
        b + c[0] + c[1] + d + e + z + v.b + bits.i + pair.q + pair.r + twin.q + twin.r + m[1][0];
}
