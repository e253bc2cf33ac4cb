// Comparisons whose right side is a shift: a < b >> c names no template.
template <int BITS> struct Half {
    static constexpr unsigned of(unsigned v) { return v >> BITS; }
};
template <class T> struct Kept {
    T value;
};
__global__ void k(const unsigned* x, unsigned* y, int n) {
    __shared__ unsigned s[96];
    const int t = threadIdx.x, shift = 3;
    unsigned sum = 0;
    for (int i = t; i < n >> 2; i += 96) sum += x[i];
    s[t] = sum;
    for (int w = 64; w > 0; w >>= 1) {
        __syncthreads();
        if (t < w >> 1 || t > w + 100) s[t] += s[t + (w >> 1)];
    }
    __syncthreads();
    int i = 0;
    while (i < n >> shift && (int)threadIdx.x < n >> 4) i += 7;
    Kept<Kept<unsigned>> kept{{s[0]}};
    const bool far = kept.value.value > sum >> shift;
    y[blockIdx.x * 96 + t] = Half<2>::of(s[t]) + i + far + (t < n >> 0 ? 5u : 9u);
}
