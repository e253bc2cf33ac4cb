// Members of structs with the names of a kernel and of a function that waits.
struct Line {
    int k, total;
    __device__ int at(int v) const { return v * k; }
    __device__ int twice(int v) const { return 2 * this->total * v; }
};
__device__ int total(int v) { return __shfl_xor(v, 1) + v; }
__device__ int first(const Line& line) { return line.total; }
__global__ void k(const int* x, int* y, int n) {
    __shared__ int s[96];
    int t = threadIdx.x, i = blockIdx.x * 96 + t;
    Line line = {3, n};
    s[t] = x[i];
    __syncthreads();
    y[i] = line.at(s[95 - t]) + line.twice(total(t)) + first(line);
}
