__global__ void k(const unsigned* x, unsigned* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = x[i], seen = 0;
    if (threadIdx.x % 3 == 0) {
        v += __shfl_xor(v, 3);
        seen = (unsigned)__popcll(__ballot(v % 2));
    } else if (v % 2) {
        seen = __shfl(v, 1) + (unsigned)__popcll(__activemask());
    } else {
        v = __shfl_up(v, 1);
    }
    for (unsigned j = 0; j < x[i] % 6; ++j) {
        if ((v + j) % 4 == 1) continue;
        v += __shfl_down(v, 1) + j;
        if (v % 7 == 2) break;
        seen += __any(v % 5 == 0) ? __shfl_xor(seen, 1) : 1;
    }
    do { v = v / 2 + __all(v > 3); } while (v > 40);
    y[i] = v * 64 + seen + (x[i] % 2 && __any(v % 3 == 0));
}
