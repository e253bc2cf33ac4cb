struct Pair { unsigned a, b; };
__device__ void bump(unsigned& v, unsigned by) { v += by; }
__device__ void bump_all(unsigned* v, int count) { for (int j = 0; j < count; ++j) v[j] += j; }
__global__ void k(const unsigned* x, unsigned* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v[4] = {x[i], 1, 2, 3};
    unsigned single = x[i] + 1;
    Pair pair = {x[i], 7};
    unsigned* p = &single;
    unsigned* q = v + 1;
    unsigned& r = v[2];
    __syncthreads();
    *p += 5;
    q[0] += *p;
    r += 9;
    bump(pair.b, v[1]);
    __syncthreads();
    bump(single, pair.a);
    bump_all(v, 4);
    auto add = [&](unsigned d) { single += d; return single * 2; };
    __syncthreads();
    y[i] = add(r) + add(v[1]) + pair.a * 3 + pair.b + *p + q[2];
}
