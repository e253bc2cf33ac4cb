/*---
launches:
  - kernel: product<DOWN_Q, __hip_bfloat16, __hip_bfloat16>
    grid: ["ceil_div(R, 64)", "ceil_div(B, 64)"]
    block: [16, 8]
    args: [x, q_down, latent, {struct: [B, D, R, H, C, N, P, V, T, L]}]
  - kernel: product<DOWN_KV, __hip_bfloat16, __hip_bfloat16>
    grid: ["ceil_div(C + P, 64)", "ceil_div(B, 64)"]
    block: [16, 8]
    args: [x, kv_down, row, {struct: [B, D, R, H, C, N, P, V, T, L]}]
  - kernel: product<UP_Q, double, __hip_bfloat16>
    grid: ["ceil_div(H * (N + P), 64)", "ceil_div(B, 64)"]
    block: [16, 8]
    args: [latent, q_up, q, {struct: [B, D, R, H, C, N, P, V, T, L]}]
  - kernel: product<ABSORB, double, __hip_bfloat16>
    grid: ["ceil_div(C, 64)", "ceil_div(B, 64)", H]
    block: [16, 8]
    args: [q, kv_up, query, {struct: [B, D, R, H, C, N, P, V, T, L]}]
  - kernel: enter<true>
    grid: ["ceil_div(C + P, 64)", B]
    block: [64]
    args: [row, cache, {struct: [B, D, R, H, C, N, P, V, T, L]}]
  - kernel: turn_query
    grid: [H, B]
    block: [64]
    args: [q, query, {struct: [B, D, R, H, C, N, P, V, T, L]}]
  - kernel: turn_keys
    grid: ["L + 1", B]
    block: [64]
    args: [cache, turned, {struct: [B, D, R, H, C, N, P, V, T, L]}]
  - kernel: product<SCORES, double, double>
    grid: ["ceil_div(L + 1, 64)", "ceil_div(H, 64)", B]
    block: [16, 8]
    args: [query, cache, p, {struct: [B, D, R, H, C, N, P, V, T, L]}]
  - kernel: product<MORE, double, double>
    grid: ["ceil_div(L + 1, 64)", "ceil_div(H, 64)", B]
    block: [16, 8]
    args: [query, turned, p, {struct: [B, D, R, H, C, N, P, V, T, L]}]
  - kernel: softmax
    grid: [H, B]
    block: [256]
    args: [p, {struct: [B, D, R, H, C, N, P, V, T, L]}]
  - kernel: product<MEAN, double, double>
    grid: ["ceil_div(C, 64)", "ceil_div(H, 64)", B]
    block: [16, 8]
    args: [p, cache, mean, {struct: [B, D, R, H, C, N, P, V, T, L]}]
  - kernel: product<UP_V, double, __hip_bfloat16>
    grid: ["ceil_div(V, 64)", "ceil_div(B, 64)", H]
    block: [16, 8]
    args: [mean, kv_up, o, {struct: [B, D, R, H, C, N, P, V, T, L]}]
  - kernel: product<OUT, double, __hip_bfloat16>
    grid: ["ceil_div(D, 64)", "ceil_div(B, 64)"]
    block: [16, 8]
    args: [o, wo, y, {struct: [B, D, R, H, C, N, P, V, T, L]}]
  - kernel: enter<false>
    grid: ["ceil_div(C + P, 64)", B]
    block: [64]
    args: [row, cache, {struct: [B, D, R, H, C, N, P, V, T, L]}]
scratch:
  latent: "8 * B * R"
  row: "8 * B * (C + P)"
  q: "8 * B * H * (N + P)"
  query: "8 * B * H * (C + P)"
  turned: "8 * B * (L + 1) * P"
  p: "8 * B * H * (L + 1)"
  mean: "8 * B * H * C"
  o: "8 * B * H * V"
---*/
#include <hip/hip_bf16.h>
// A decode step in double precision, by products of matrices, with kv_up absorbed. cache, in
// doubles here, holds the new row rounded to bfloat16 until all have read it.

struct Dims {
    int B, D, R, H, C, N, P, V, T, L;
};

// out[i, m, n] = sum over k of a[i, m, k] w[i, n, k]; strides in elements.
struct Shape {
    int M, N, K;
    int a_start, a_batch, a_row;
    int w_start, w_batch, w_row, w_col;
    int out_batch, out_row;
};

enum Step { DOWN_Q, DOWN_KV, UP_Q, ABSORB, SCORES, MORE, MEAN, UP_V, OUT };

template <Step STEP> __device__ Shape shape_of(Dims d) {
    int row = d.C + d.P, head = d.N + d.P, up = (d.N + d.V) * d.C, keys = d.L + 1;
    switch (STEP) {
    case DOWN_Q: return {d.B, d.R, d.D, 0, 0, d.D, 0, 0, d.D, 1, 0, d.R};
    case DOWN_KV: return {d.B, row, d.D, 0, 0, d.D, 0, 0, d.D, 1, 0, row};
    case UP_Q: return {d.B, d.H * head, d.R, 0, 0, d.R, 0, 0, d.R, 1, 0, d.H * head};
    case ABSORB: return {d.B, d.C, d.N, 0, head, d.H * head, 0, up, 1, d.C, row, d.H * row};
    case SCORES: return {d.H, keys, d.C, 0, d.H * row, row, 0, d.T * row, row, 1, d.H * keys, keys};
    case MORE:
        return {d.H, keys, d.P, d.C, d.H * row, row, 0, keys * d.P, d.P, 1, d.H * keys, keys};
    case MEAN: return {d.H, d.C, keys, 0, d.H * keys, keys, 0, d.T * row, 1, row, d.H * d.C, d.C};
    case UP_V: return {d.B, d.V, d.C, 0, d.C, d.H * d.C, d.N * d.C, up, d.C, 1, d.V, d.H * d.V};
    default: return {d.B, d.D, d.H * d.V, 0, 0, d.H * d.V, 0, 0, d.H * d.V, 1, 0, d.D};
    }
}

__device__ double wide(double x) { return x; }
__device__ double wide(__hip_bfloat16 x) { return __bfloat162float(x); }
__device__ double rounded(double x) { return __bfloat162float(__float2bfloat16((float)x)); }

// 8 x 4 elements a thread, from tiles in LDS. MORE adds to what is there.
template <Step STEP, typename A, typename W>
__global__ void product(const A* a, const W* w, double* out, Dims dims) {
    __shared__ double left[16][65], right[16][65];
    const Shape s = shape_of<STEP>(dims);
    size_t batch = blockIdx.z;
    a += batch * s.a_batch + s.a_start;
    w += batch * s.w_batch + s.w_start;
    out += batch * s.out_batch;
    int across = threadIdx.x, down = threadIdx.y, thread = down * 16 + across;
    int top = blockIdx.y * 64, side = blockIdx.x * 64;
    double sums[8][4] = {};
    for (int k = 0; k < s.K; k += 16) {
        for (int i = thread; i < 16 * 64; i += 128) {
            int row = top + i / 16, at = k + i % 16;
            left[i % 16][i / 16] = row < s.M && at < s.K ? wide(a[(size_t)row * s.a_row + at]) : 0;
            int far = s.w_col == 1 ? i / 16 : i % 64, deep = s.w_col == 1 ? i % 16 : i / 64;
            bool has = side + far < s.N && k + deep < s.K;
            size_t place = (size_t)(side + far) * s.w_row + (size_t)(k + deep) * s.w_col;
            right[deep][far] = has ? wide(w[place]) : 0;
        }
        __syncthreads();
        for (int i = 0; i < 16; ++i) {
            double rows[8], cols[4];
            for (int m = 0; m < 8; ++m) rows[m] = left[i][down + 8 * m];
            for (int n = 0; n < 4; ++n) cols[n] = right[i][across + 16 * n];
            for (int m = 0; m < 8; ++m)
                for (int n = 0; n < 4; ++n) sums[m][n] += rows[m] * cols[n];
        }
        __syncthreads();
    }
    for (int m = 0; m < 8; ++m)
        for (int n = 0; n < 4; ++n) {
            int row = top + down + 8 * m, col = side + across + 16 * n;
            double* to = out + (size_t)row * s.out_row + col;
            if (row < s.M && col < s.N) *to = sums[m][n] + (STEP == MORE ? *to : 0);
        }
}

// The new row into the cache, rounded or as it is.
template <bool ROUND> __global__ void enter(const double* row, double* cache, Dims d) {
    int i = blockIdx.x * 64 + threadIdx.x, width = d.C + d.P;
    row += blockIdx.y * width;
    cache += ((size_t)blockIdx.y * d.T + d.L) * width;
    if (i < width) cache[i] = ROUND ? rounded(row[i]) : row[i];
}

// P elements of x turned by position t.
__device__ void turn(const double* x, double* to, int t, int P) {
    int half = P / 2;
    for (int i = threadIdx.x; i < half; i += 64) {
        float angle = (float)t * (float)pow(10000.0, -(double)i / half);
        double co = rounded(cos((double)angle)), si = rounded(sin((double)angle));
        to[i] = x[i] * co - x[i + half] * si;
        to[i + half] = x[i + half] * co + x[i] * si;
    }
}

__global__ void turn_query(const double* q, double* query, Dims d) {
    size_t head = (size_t)blockIdx.y * d.H + blockIdx.x;
    turn(q + head * (d.N + d.P) + d.N, query + head * (d.C + d.P) + d.C, d.L, d.P);
}

__global__ void turn_keys(const double* cache, double* turned, Dims d) {
    size_t t = blockIdx.x, b = blockIdx.y;
    turn(cache + (b * d.T + t) * (d.C + d.P) + d.C, turned + (b * (d.L + 1) + t) * d.P, t, d.P);
}

__device__ double over_block(double mine, bool largest, double* part) {
    int t = threadIdx.x;
    __syncthreads();
    part[t] = mine;
    for (int width = 128; width > 0; width /= 2) {
        __syncthreads();
        if (t < width) {
            double a = part[t], b = part[t + width];
            part[t] = largest ? fmax(a, b) : a + b;
        }
    }
    __syncthreads();
    return part[0];
}

// Of L + 1 scores, in place, a block a row.
__global__ void softmax(double* p, Dims d) {
    __shared__ double part[256];
    p += ((size_t)blockIdx.y * d.H + blockIdx.x) * (d.L + 1);
    double scale = 1 / sqrt((double)(d.N + d.P)), top = -1e300, sum = 0;
    for (int i = threadIdx.x; i <= d.L; i += 256) top = fmax(top, p[i] * scale);
    top = over_block(top, true, part);
    for (int i = threadIdx.x; i <= d.L; i += 256) sum += exp(p[i] * scale - top);
    sum = over_block(sum, false, part);
    for (int i = threadIdx.x; i <= d.L; i += 256) p[i] = exp(p[i] * scale - top) / sum;
}
