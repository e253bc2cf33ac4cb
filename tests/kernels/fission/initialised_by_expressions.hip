// Each of these a parser without symbols may take for the prototype of a function.
struct Kept {
    int value;
    __device__ Kept(int v) : value(v) {}
    __device__ Kept(int v, int w) : value(v + w) {}
};
__device__ int thrice(int v) { return 3 * v; }
__global__ void k(const int* x, int* y, int n) {
    const int t = threadIdx.x;
    Kept element(x[t]);
    Kept product(t * n);
    Kept called(thrice(t)), several(thrice(n), x[t + 1]);
    Kept joined(__shfl_down(element.value, 1));
    __syncthreads();
    y[blockIdx.x * 96 + t] = element.value + product.value + called.value - several.value;
    if (t < 32) y[blockIdx.x * 96 + t] += joined.value;
}
