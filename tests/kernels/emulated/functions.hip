// Calls, tables, scratch, integers of 64 bits.
__device__ __attribute__((noinline)) int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void recursion(int *y) { y[threadIdx.x] = fibonacci(threadIdx.x & 7); }

typedef int (*Function)(int);
__device__ __attribute__((noinline)) int plus_one(int v) { return v + 1; }
__device__ __attribute__((noinline)) int times_three(int v) { return v * 3; }
__device__ __attribute__((noinline)) int less_seven(int v) { return v - 7; }
__device__ Function table[3] = {plus_one, times_three, less_seven};
__global__ void function_pointers(const int *x, int *y) {
    y[threadIdx.x] = table[threadIdx.x % 3](x[threadIdx.x]);
}

__device__ __attribute__((noinline)) void fill(int *to, int n, int step) {
    for (int i = 0; i < n; ++i) to[i] = i * step;
}
__device__ __attribute__((noinline)) long long total(const int *of, int n) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) sum += of[i];
    return sum;
}
__global__ void large_stack(long long *y) {
    int mine[500];
    fill(mine, 500, threadIdx.x);
    y[threadIdx.x] = total(mine, 500);
}

// A pointer that leads to LDS, to scratch or to memory.
__global__ void generic_pointers(int *x, int *y) {
    __shared__ int tile[64];
    int own[4] = {1, 2, 3, 4};
    const int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    int *const at = t % 3 == 0 ? tile + t : t % 3 == 1 ? own + (t & 3) : x + t;
    y[t] = *at;
    *at = t;
    __syncthreads();
    y[64 + t] = t % 3 == 0 ? tile[t] : t % 3 == 1 ? own[t & 3] : x[t];
}

__global__ void divisions(const unsigned long long *x, unsigned long long *y) {
    const int t = threadIdx.x;
    const unsigned long long a = x[t], b = x[63 - t] >> t % 60;
    y[4 * t] = a / b;
    y[4 * t + 1] = a % b;
    y[4 * t + 2] = (unsigned)a / ((unsigned)(b >> 32) | 1);
    y[4 * t + 3] = __umul64hi(a, b);
}
