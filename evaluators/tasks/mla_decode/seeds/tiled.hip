/*---
launches:
  - kernel: project<__hip_bfloat16, float>
    grid: ["ceil_div(R, 64)", "ceil_div(B, 64)"]
    block: [16, 16]
    args: [x, q_down, q_latent, B, D, R, R, {value: "0", type: int32}, {value: "0", type: int32},
           {value: "0", type: int32}]
  - kernel: project<__hip_bfloat16, __hip_bfloat16>
    grid: ["ceil_div(C + P, 64)", "ceil_div(B, 64)"]
    block: [16, 16]
    args: [x, kv_down, cache, B, D, {value: "C + P", type: int32},
           {value: "T * (C + P)", type: int32}, {value: "L * (C + P)", type: int32},
           {value: "0", type: int32}, {value: "0", type: int32}]
  - kernel: project<float, float>
    grid: ["ceil_div(H * (N + P), 64)", "ceil_div(B, 64)"]
    block: [16, 16]
    args: [q_latent, q_up, q, B, R, {value: "H * (N + P)", type: int32},
           {value: "H * (N + P)", type: int32}, {value: "0", type: int32},
           {value: "0", type: int32}, {value: "0", type: int32}]
  - kernel: rotations
    grid: ["ceil_div((L + 1) * (P // 2), 64)"]
    block: [64]
    args: [cosine, sine, L, P]
  - kernel: absorb
    grid: ["ceil_div(C + P, 64)", H, B]
    block: [64]
    args: [q, kv_up, cosine, sine, query, C, N, P, V, L]
  - kernel: attention
    grid: ["ceil_div(C, 32 * TC)", "ceil_div(H, 32)", B]
    block: [32, 8]
    args: [query, cache, cosine, sine, mean, H, C, N, P, T, L]
  - kernel: project<float, float>
    grid: ["ceil_div(V, 64)", "ceil_div(B, 64)", H]
    block: [16, 16]
    args: [mean, kv_up, o, B, C, V, {value: "H * V", type: int32}, {value: "0", type: int32},
           {value: "(N + V) * C", type: int32}, {value: "N * C", type: int32}]
  - kernel: project<float, __hip_bfloat16>
    grid: ["ceil_div(D, 64)", "ceil_div(B, 64)"]
    block: [16, 16]
    args: [o, wo, y, B, {value: "H * V", type: int32}, D, D, {value: "0", type: int32},
           {value: "0", type: int32}, {value: "0", type: int32}]
scratch:
  q_latent: "4 * B * R"
  q: "4 * B * H * (N + P)"
  cosine: "4 * (L + 1) * (P // 2)"
  sine: "4 * (L + 1) * (P // 2)"
  query: "4 * B * H * (C + P)"
  mean: "4 * B * H * C"
  o: "4 * B * H * V"
params: {TK: 2, TC: 16, STEP: 16}
space:
  TK: [1, 2, 4]
  TC: [2, 4, 8, 16]
  STEP: [8, 16, 32]
constraints:
  - "4 * (STEP * (36 + 32 * TK) + 32 * TK * 36) <= 40960"
---*/
#include <hip/hip_bf16.h>

// As the naive seed, but that blocks multiply tiles: of the weights for 64 sequences, and of the
// cache for 32 heads, which all meet the same keys.
// TK: a tile has 32 TK keys. TC: a block sums values of 32 TC columns. STEP: columns of
// queries and keys in LDS at a time.

// out[m, n] = sum over k of x[m, k] w[n, k]: a block a tile of 64 x 64, a thread 4 x 4 of it. Row m
// of out begins at stride m + start. The grid's z counts matrices side by side in x and in out; of
// weights the first begins at skip, and the others are `step` apart.
template <typename In, typename Out>
__global__ void project(const In* x, const __hip_bfloat16* w, Out* out, int M, int K, int N,
                        int stride, int start, int step, int skip) {
    __shared__ __attribute__((aligned(16))) float of_x[16][68], of_w[16][68];
    const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
    const int top = blockIdx.y * 64, side = blockIdx.x * 64;
    const size_t pitch = (size_t)gridDim.z * K;
    x += (size_t)blockIdx.z * K;
    w += (size_t)blockIdx.z * step + skip;
    out += (size_t)blockIdx.z * N;
    float sums[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int k = thread % 16, line = thread / 16 + 16 * i;
            const bool inside = k0 + k < K;
            of_x[k][line] =
                inside && top + line < M ? (float)x[(top + line) * pitch + k0 + k] : 0.0f;
            of_w[k][line] = inside && side + line < N
                                ? __bfloat162float(w[(size_t)(side + line) * K + k0 + k])
                                : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            float lines[4], columns[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) lines[i] = of_x[k][ty * 4 + i];
#pragma unroll
            for (int j = 0; j < 4; ++j) columns[j] = of_w[k][tx * 4 + j];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) sums[i][j] += lines[i] * columns[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int m = top + ty * 4 + i, n = side + tx * 4 + j;
            if (m < M && n < N) out[(size_t)m * stride + start + n] = Out(sums[i][j]);
        }
    }
}

// cos and sin of positions 0 to L: (L + 1) x P / 2, rounded to bfloat16.
__global__ void rotations(float* cosine, float* sine, int L, int P) {
    int half = P / 2;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (L + 1) * half) {
        float turn = (float)pow(10000.0, -(double)(i % half) / half);
        float angle = (float)(i / half) * turn;
        cosine[i] = __bfloat162float(__float2bfloat16((float)cos((double)angle)));
        sine[i] = __bfloat162float(__float2bfloat16((float)sin((double)angle)));
    }
}

// The query as the cache's rows meet it, C + P elements a head: its plain part times the head's
// keys of kv_up, then its other part, turned by position L. Scaled as scores are.
__global__ void absorb(const float* q, const __hip_bfloat16* kv_up, const float* cosine,
                       const float* sine, float* query, int C, int N, int P, int V, int L) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    size_t h = blockIdx.y;
    size_t head = (size_t)blockIdx.z * gridDim.y + h;
    q += head * (N + P);
    query += head * (C + P);
    float scale = 1.0f / sqrtf((float)(N + P));
    if (c < C) {
        float sum = 0.0f;
        for (int n = 0; n < N; ++n) {
            sum += q[n] * __bfloat162float(kv_up[(h * (N + V) + n) * C + c]);
        }
        query[c] = sum * scale;
    } else if (c < C + P) {
        int half = P / 2;
        int i = c - C;
        float co = cosine[L * half + i % half];
        float si = sine[L * half + i % half];
        float other = i < half ? -q[N + i + half] : q[N + i - half];
        query[c] = (q[N + i] * co + other * si) * scale;
    }
}

// Column c of a key: of the last P, as position j turns them.
__device__ inline float key(const __hip_bfloat16* row, const float* cosine, const float* sine,
                            int c, int C, int P, int j) {
    const float plain = __bfloat162float(row[c]);
    if (c < C) return plain;
    const int half = P / 2, i = c - C, at = j * half + i % half;
    const float other = __bfloat162float(row[i < half ? c + half : c - half]);
    return plain * cosine[at] + (i < half ? -other : other) * sine[at];
}

// A block a sequence and 32 heads, 4 a thread: tiles of keys with a running largest score and sum.
__global__ void attention(const float* query, const __hip_bfloat16* cache, const float* cosine,
                          const float* sine, float* mean, int H, int C, int N, int P, int T,
                          int L) {
    __shared__ __attribute__((aligned(16))) float of_query[STEP][36];
    __shared__ float of_keys[STEP][32 * TK];
    __shared__ __attribute__((aligned(16))) float score[32 * TK][36];  // by key and head
    __shared__ float part[8][32];
    __shared__ float largest[32], total[32], shrink[32];
    const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 32 + tx;
    const int first_head = blockIdx.y * 32, side = blockIdx.x * 32 * TC;
    const size_t b = blockIdx.z;
    cache += b * T * (C + P);
    query += (b * H + first_head) * (C + P);
    if (ty == 0) {
        largest[tx] = -3.0e38f;
        total[tx] = 0.0f;
    }
    float sums[4][TC] = {};
    for (int first = 0; first <= L; first += 32 * TK) {
        const int count = min(32 * TK, L + 1 - first);
        float scores[4][TK] = {};
        for (int c0 = 0; c0 < C + P; c0 += STEP) {
            for (int i = thread; i < 32 * STEP; i += 256) {
                const int c = i % STEP, h = i / STEP;
                of_query[c][h] = first_head + h < H && c0 + c < C + P
                                     ? query[(size_t)h * (C + P) + c0 + c]
                                     : 0.0f;
            }
            for (int i = thread; i < 32 * TK * STEP; i += 256) {
                const int c = i % STEP, j = i / STEP;
                of_keys[c][j] = j < count && c0 + c < C + P
                                    ? key(cache + (size_t)(first + j) * (C + P), cosine, sine,
                                          c0 + c, C, P, first + j)
                                    : 0.0f;
            }
            __syncthreads();
#pragma unroll
            for (int c = 0; c < STEP; ++c) {
                float queries[4], keys[TK];
#pragma unroll
                for (int i = 0; i < 4; ++i) queries[i] = of_query[c][ty * 4 + i];
#pragma unroll
                for (int j = 0; j < TK; ++j) keys[j] = of_keys[c][tx + 32 * j];
#pragma unroll
                for (int i = 0; i < 4; ++i) {
#pragma unroll
                    for (int j = 0; j < TK; ++j) scores[i][j] += queries[i] * keys[j];
                }
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int j = 0; j < TK; ++j) {
                score[tx + 32 * j][ty * 4 + i] = tx + 32 * j < count ? scores[i][j] : -3.0e38f;
            }
        }
        __syncthreads();

        // From here to the sums, thread tx is for a head, and ty for every eighth key.
        float top = -3.0e38f;
        for (int j = ty; j < 32 * TK; j += 8) top = fmaxf(top, score[j][tx]);
        part[ty][tx] = top;
        __syncthreads();
        top = largest[tx];
        for (int i = 0; i < 8; ++i) top = fmaxf(top, part[i][tx]);
        __syncthreads();
        float mine = 0.0f;
        for (int j = ty; j < 32 * TK; j += 8) {
            const float e = j < count ? expf(score[j][tx] - top) : 0.0f;
            score[j][tx] = e;
            mine += e;
        }
        part[ty][tx] = mine;
        if (ty == 0) shrink[tx] = expf(largest[tx] - top);
        __syncthreads();
        if (ty == 0) {
            float sum = total[tx] * shrink[tx];
            for (int i = 0; i < 8; ++i) sum += part[i][tx];
            total[tx] = sum;
            largest[tx] = top;
        }

#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int c = 0; c < TC; ++c) sums[i][c] *= shrink[ty * 4 + i];
        }
        for (int j = 0; j < count; ++j) {
            const __hip_bfloat16* row = cache + (size_t)(first + j) * (C + P) + side;
            float columns[TC];
#pragma unroll
            for (int c = 0; c < TC; ++c) {
                columns[c] = side + tx + 32 * c < C ? __bfloat162float(row[tx + 32 * c]) : 0.0f;
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float weight = score[j][ty * 4 + i];
#pragma unroll
                for (int c = 0; c < TC; ++c) sums[i][c] += weight * columns[c];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int h = ty * 4 + i;
#pragma unroll
        for (int c = 0; c < TC; ++c) {
            const int column = side + tx + 32 * c;
            if (first_head + h < H && column < C) {
                mean[(b * H + first_head + h) * C + column] = sums[i][c] / total[h];
            }
        }
    }
}
