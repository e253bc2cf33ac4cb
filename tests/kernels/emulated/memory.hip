// Buffers that cut off what is beyond them, unaligned vectors, all of LDS, partly written tiles.
#include <hip/hip_fp16.h>

typedef int int4v __attribute__((ext_vector_type(4)));

// The last lane's 16 bytes are partly beyond: words are checked one by one.
__global__ void double_by_buffer(const int *x, int *y, int n) {
    const auto from = __builtin_amdgcn_make_buffer_rsrc((void *)x, 0, n * 4, 0x00027000);
    const auto to = __builtin_amdgcn_make_buffer_rsrc(y, 0, n * 4, 0x00027000);
    const int at = threadIdx.x * 16;
    const int4v v = __builtin_amdgcn_raw_buffer_load_b128(from, at, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b128(v * 2, to, at, 0, 0);
}

__global__ void unaligned(const char *x, char *y) {
    __shared__ char tile[1200];
    const int t = threadIdx.x;
    uint4 v, w;
    for (int i = t; i < 1200; i += 64) tile[i] = x[i];
    __syncthreads();
    __builtin_memcpy(&v, tile + t * 17 + 1, 16);
    __builtin_memcpy(&w, x + t * 3, 16);
    v.x += w.x;
    __builtin_memcpy(y + t * 16, &v, 16);
}

__global__ __launch_bounds__(1024) void all_of_lds(const int *x, int *y) {
    __shared__ int tile[16384];
    const int t = threadIdx.x;
    for (int i = t; i < 16384; i += 1024) tile[i] = x[i & 1023] + i;
    __syncthreads();
    for (int i = t; i < 16384; i += 1024) y[i] = tile[16383 - i];
}

// The tile's end is written by nobody, read by some, and counts for none.
__global__ void ragged_sums(const float *x, float *y, int n) {
    __shared__ float tile[256];
    const int t = threadIdx.x;
    if (t < n) tile[t] = x[t];
    __syncthreads();
    if (t >= 64) return;
    const float4 four = ((const float4 *)tile)[t];
    const float v[4] = {four.x, four.y, four.z, four.w};
    float sum = 0;
    for (int j = 0; j < 4; ++j)
        if (4 * t + j < n) sum += v[j];
    y[t] = sum;
}

struct Padded {
    char small;
    double large;
};

// What is between the members is copied with them.
__global__ void reverse_padded(const double *x, double *y) {
    __shared__ Padded tile[64];
    const int t = threadIdx.x;
    Padded mine;
    mine.small = (char)t;
    mine.large = x[t];
    tile[t] = mine;
    __syncthreads();
    const Padded other = tile[63 - t];
    y[t] = other.large + other.small;
}

// Only the even halves are written; their words are read whole.
__global__ void low_halves(const unsigned char *x, int *y) {
    __shared__ unsigned short tile[64];
    const int t = threadIdx.x;
    if (t % 2 == 0) tile[t] = x[t];
    __syncthreads();
    const unsigned word = ((unsigned *)tile)[t / 2], value = word & 0xffff;
    if (value > 3) y[value] = 1;
}

__global__ void transpose_halves(const __half *x, __half *y) {
    __shared__ __half tile[16][17];
    const int i = threadIdx.x;
    tile[i / 16][i % 16] = x[i];
    __syncthreads();
    y[i] = tile[i % 16][i / 16];
}

// Time moves on between two looks at a clock.
__global__ void clocks(int *y) {
    const long long first = clock64(), wall = wall_clock64();
    y[threadIdx.x] = 1;
    __syncthreads();
    if (clock64() <= first || wall_clock64() < wall) y[threadIdx.x] = 2;
}

__global__ void atomics(const int *x, int *a, double *d, float *f) {
    const int i = blockIdx.x * 64 + threadIdx.x, v = x[i];
    atomicAdd(a, v);
    atomicMin(a + 1, v);
    atomicMax(a + 2, v);
    atomicXor(a + 3, v);
    atomicInc((unsigned *)a + 4, 99);
    atomicDec((unsigned *)a + 5, 99);
    atomicAdd(d, v * 0.5);
    atomicMin(d + 1, (double)v);
    unsafeAtomicAdd(d + 2, (double)v);
    atomicMax(f, (float)v);
    unsigned old = __float_as_uint(f[1]), seen;
    do {
        seen = old;
        old = atomicCAS((unsigned *)f + 1, seen, __float_as_uint(__uint_as_float(seen) + 1.0f));
    } while (seen != old);
}
