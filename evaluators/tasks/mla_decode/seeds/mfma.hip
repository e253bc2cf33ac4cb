/*---
backends: [hip]
launches:
  - kernel: project<DOWN_Q, float>
    grid: ["ceil_div(R, TN)", "ceil_div(B, 128)", DOWN_PARTS]
    block: [256]
    args: [x, q_down, latent_parts, {struct: [B, D, R, H, C, N, P, V]}]
  - kernel: project<DOWN_KV, float>
    grid: ["ceil_div(C + P, TN)", "ceil_div(B, 128)", DOWN_PARTS]
    block: [256]
    args: [x, kv_down, row_parts, {struct: [B, D, R, H, C, N, P, V]}]
  - kernel: join
    grid: ["ceil_div(R, 256)", B]
    block: [256]
    args: [latent_parts, latent, R, {value: DOWN_PARTS, type: int32}, R, {value: "0", type: int32}]
  - kernel: join
    grid: ["ceil_div(C + P, 256)", B]
    block: [256]
    args: [row_parts, cache, {value: "C + P", type: int32}, {value: DOWN_PARTS, type: int32},
           {value: "T * (C + P)", type: int32}, {value: "L * (C + P)", type: int32}]
  - kernel: project<UP_Q, short>
    grid: ["ceil_div(H * (N + P), TN)", "ceil_div(B, 128)"]
    block: [256]
    args: [latent, q_up, q, {struct: [B, D, R, H, C, N, P, V]}]
  - kernel: rotations
    grid: ["ceil_div((L + 1) * (P // 2), 256)"]
    block: [256]
    args: [cosine, sine, L, P]
  - kernel: project<ABSORB, short>
    grid: ["ceil_div(C, TN)", "ceil_div(B, 128)", H]
    block: [256]
    args: [q, kv_up, query, {struct: [B, D, R, H, C, N, P, V]}]
  - kernel: finish_query
    grid: [H, B]
    block: [64]
    args: [q, cosine, sine, query, C, N, P, L]
  - kernel: attention
    grid: [SPLITS, "ceil_div(H, 64)", B]
    block: [512]
    args: [query, cache, cosine, sine, partial, states, H, C, N, P, T, L]
  - kernel: combine
    grid: [H, B]
    block: [128]
    args: [partial, states, mean, C]
  - kernel: project<UP_V, short>
    grid: ["ceil_div(V, TN)", "ceil_div(B, 128)", H]
    block: [256]
    args: [mean, kv_up, o, {struct: [B, D, R, H, C, N, P, V]}]
  - kernel: project<OUT, float>
    grid: ["ceil_div(D, TN)", "ceil_div(B, 128)", OUT_PARTS]
    block: [256]
    args: [o, wo, y_parts, {struct: [B, D, R, H, C, N, P, V]}]
  - kernel: join
    grid: ["ceil_div(D, 256)", B]
    block: [256]
    args: [y_parts, y, D, {value: OUT_PARTS, type: int32}, D, {value: "0", type: int32}]
scratch:
  latent_parts: "4 * DOWN_PARTS * B * R"
  row_parts: "4 * DOWN_PARTS * B * (C + P)"
  latent: "2 * B * R"
  q: "2 * B * H * (N + P)"
  cosine: "4 * (L + 1) * (P // 2)"
  sine: "4 * (L + 1) * (P // 2)"
  query: "2 * B * H * 576 * (C <= 512) * (P <= 64)"   # none, and so no plan, for larger rows
  partial: "4 * SPLITS * B * H * 512"
  states: "8 * SPLITS * B * H"
  mean: "2 * B * H * C"
  o: "2 * B * H * V"
  y_parts: "4 * OUT_PARTS * B * D"
params: {TN: 64, TK: 64, DOWN_PARTS: 16, OUT_PARTS: 4, SPLITS: 2}
space:
  TN: [64, 128]
  TK: [32, 64, 128]
  DOWN_PARTS: [4, 8, 16, 32]
  OUT_PARTS: [1, 2, 4, 8]
  SPLITS: [1, 2, 4, 7, 8]
# Two blocks of a projection beside each other: 2 wavefronts a SIMD.
constraints: ["(128 + TN) * (TK + 4) * 2 <= 32768"]
---*/
// A decode step on CDNA3's matrix cores, kv_up absorbed. Intermediates are bfloat16, sums float32.
#include <hip/hip_bf16.h>

typedef short Four __attribute__((ext_vector_type(4)));   // bfloat16 elements that a lane holds
typedef float Sums __attribute__((ext_vector_type(4)));   // of a 16 x 16 tile
typedef float Wide __attribute__((ext_vector_type(16)));  // of a 32 x 32 tile
struct alignas(16) Eight {
    Four low, high;
};

__device__ short narrow(float x) {
    __hip_bfloat16 rounded = __float2bfloat16(x);
    return *(short*)&rounded;
}

__device__ float widen(short x) { return __uint_as_float((unsigned)(unsigned short)x << 16); }

// Elements k to k + 7 of a line, which lie step apart; zeros from depth on.
__device__ Eight eight(const short* line, int k, int depth, int step = 1) {
    const short* from = line + (size_t)k * step;
    if (step == 1 && k + 8 <= depth && (size_t)from % 16 == 0) return *(const Eight*)from;
    Eight some = {};
    for (int i = 0; i < 4; ++i) {
        if (k + i < depth) some.low[i] = from[(size_t)i * step];
        if (k + 4 + i < depth) some.high[i] = from[(size_t)(4 + i) * step];
    }
    return some;
}

__device__ void put(Four* to, const Eight& from) {  // LDS has room for vectors of 8 bytes only
    to[0] = from.low;
    to[1] = from.high;
}

struct Dims {
    int B, D, R, H, C, N, P, V;
};

// out[i, m, n] = sum of a[i, m, k] w[i, n, k], with strides in elements; w's k lie w_step apart. Of
// a product in parts i is the part: K elements of the whole sum's depth.
struct Shape {
    int M, N, K, whole;
    int a_batch, a_row;
    int w_start, w_batch, w_row, w_step;
    int out_batch, out_row;
};

enum Step { DOWN_Q, DOWN_KV, UP_Q, ABSORB, UP_V, OUT };

constexpr int WIDTH = 576, LATENT = 512;  // a padded row: latent elements, then those that turn

// A part of the depth, in whole tiles, so that parts begin where whole vectors do.
__device__ int part_of(int depth, int parts) {
    return (depth + parts * TK - 1) / (parts * TK) * TK;
}

template <Step STEP> __device__ Shape shape_of(Dims d) {
    int row = d.C + d.P, head = d.N + d.P, heads = d.H * head, up = (d.N + d.V) * d.C;
    int values = d.H * d.V, down = part_of(d.D, DOWN_PARTS), out = part_of(values, OUT_PARTS);
    switch (STEP) {
    case DOWN_Q: return {d.B, d.R, down, d.D, down, d.D, 0, down, d.D, 1, d.B * d.R, d.R};
    case DOWN_KV: return {d.B, row, down, d.D, down, d.D, 0, down, d.D, 1, d.B * row, row};
    case UP_Q: return {d.B, heads, d.R, d.R, 0, d.R, 0, 0, d.R, 1, 0, heads};
    case ABSORB:
        return {d.B, d.C, d.N, d.H * d.N, head, heads, 0, up, 1, d.C, WIDTH, d.H * WIDTH};
    case UP_V:
        return {d.B, d.V, d.C, d.H * d.C, d.C, d.H * d.C, d.N * d.C, up, d.C, 1, d.V, values};
    default: return {d.B, d.D, out, values, out, values, 0, out, values, 1, d.B * d.D, d.D};
    }
}

constexpr int TM = 128;        // rows of a block: 32 for each of 4 wavefronts
constexpr int PITCH = TK + 4;  // of LDS: 16 lanes' rows begin in different banks

struct Place {
    int row, k;
};

// The i-th 8 elements of a thread. ACROSS: neighbouring threads have neighbouring rows.
template <int ROWS, bool ACROSS> __device__ Place place_of(int i) {
    int at = threadIdx.x + 256 * i;
    if (ACROSS) return {at % ROWS, at / ROWS * 8};
    return {at / (TK / 8), at % (TK / 8) * 8};
}

// A thread's part of a tile, which waits in registers while the last tile is used.
template <int ROWS> struct Held {
    static constexpr int COUNT = ROWS * TK / 8 / 256;
    Eight eights[COUNT];
};

template <bool ACROSS, int ROWS>
__device__ void fetch(Held<ROWS>& held, const short* from, int row0, int rows, int row_stride,
                      int step, int k0, int depth) {
#pragma unroll
    for (int i = 0; i < Held<ROWS>::COUNT; ++i) {
        Place p = place_of<ROWS, ACROSS>(i);
        int row = row0 + p.row;
        const short* line = from + (size_t)row * row_stride;
        held.eights[i] = eight(line, k0 + p.k, row < rows ? depth : 0, ACROSS ? step : 1);
    }
}

template <bool ACROSS, int ROWS>
__device__ void store(const Held<ROWS>& held, short (*tile)[PITCH]) {
#pragma unroll
    for (int i = 0; i < Held<ROWS>::COUNT; ++i) {
        Place p = place_of<ROWS, ACROSS>(i);
        put((Four*)&tile[p.row][p.k], held.eights[i]);
    }
}

__device__ void write(float* to, float x) { *to = x; }
__device__ void write(short* to, float x) { *to = narrow(x); }

// 32 x 32 x 8: a lane holds k = 4 (lane / 32) + 0 to 3 of row (or column) lane % 32, and sums of
// column lane % 32 in rows 8 (e / 4) + 4 (lane / 32) + e % 4.
template <Step STEP, typename Out>
__global__ void __launch_bounds__(256)
project(const short* a, const short* w, Out* out, Dims dims) {
    __shared__ short left[TM][PITCH] __attribute__((aligned(16)));
    __shared__ short right[TN][PITCH] __attribute__((aligned(16)));
    constexpr bool ACROSS = STEP == ABSORB;
    const Shape s = shape_of<STEP>(dims);
    const size_t batch = blockIdx.z;
    const int lane = threadIdx.x % 64, wave = threadIdx.x / 64, deep = lane / 32 * 4;
    const int top = blockIdx.y * TM, side = blockIdx.x * TN;
    const int depth = min((long long)s.K, s.whole - (long long)batch * s.K);
    a += batch * s.a_batch;
    w += batch * s.w_batch + s.w_start;
    out += batch * s.out_batch;
    Wide sums[TN / 32] = {};
    Held<TM> of_a;
    Held<TN> of_w;
    fetch<false>(of_a, a, top, s.M, s.a_row, 1, 0, depth);
    fetch<ACROSS>(of_w, w, side, s.N, s.w_row, s.w_step, 0, depth);
    for (int k0 = 0; k0 < depth; k0 += TK) {
        store<false>(of_a, left);
        store<ACROSS>(of_w, right);
        __syncthreads();
        fetch<false>(of_a, a, top, s.M, s.a_row, 1, k0 + TK, depth);
        fetch<ACROSS>(of_w, w, side, s.N, s.w_row, s.w_step, k0 + TK, depth);
#pragma unroll
        for (int k = 0; k < TK; k += 8) {
            Four mine = *(const Four*)&left[wave * 32 + lane % 32][k + deep];
#pragma unroll
            for (int j = 0; j < TN / 32; ++j) {
                Four other = *(const Four*)&right[j * 32 + lane % 32][k + deep];
                sums[j] = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(mine, other, sums[j], 0, 0, 0);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < TN / 32; ++j)
#pragma unroll
        for (int e = 0; e < 16; ++e) {
            int row = top + wave * 32 + 8 * (e / 4) + deep + e % 4, col = side + j * 32 + lane % 32;
            if (row < s.M && col < s.N) write(out + (size_t)row * s.out_row + col, sums[j][e]);
        }
}

// The sum of a product's parts, rounded. Row b of out begins at stride b + start.
__global__ void join(const float* parts, short* out, int N, int count, int stride, int start) {
    int n = blockIdx.x * 256 + threadIdx.x;
    size_t b = blockIdx.y;
    if (n >= N) return;
    float sum = 0.0f;
    for (int i = 0; i < count; ++i) sum += parts[((size_t)i * gridDim.y + b) * N + n];
    out[b * stride + start + n] = narrow(sum);
}

// cos and sin of positions 0 to L: (L + 1) x P / 2, rounded to bfloat16.
__global__ void rotations(float* cosine, float* sine, int L, int P) {
    int half = P / 2, i = blockIdx.x * 256 + threadIdx.x;
    if (i >= (L + 1) * half) return;
    float angle = (float)(i / half) * (float)pow(10000.0, -(double)(i % half) / half);
    cosine[i] = widen(narrow((float)cos((double)angle)));
    sine[i] = widen(narrow((float)sin((double)angle)));
}

// What the absorbed part leaves of a padded query: the part that turns, and zeros.
__global__ void finish_query(const short* q, const float* cosine, const float* sine, short* query,
                             int C, int N, int P, int L) {
    int half = P / 2, i = threadIdx.x;
    size_t head = (size_t)blockIdx.y * gridDim.x + blockIdx.x;
    q += head * (N + P) + N;
    query += head * WIDTH;
    for (int c = C + i; c < LATENT; c += 64) query[c] = 0;
    float value = 0.0f;
    if (i < P) {
        float other = i < half ? -widen(q[i + half]) : widen(q[i - half]);
        value = widen(q[i]) * cosine[L * half + i % half] + other * sine[L * half + i % half];
    }
    query[LATENT + i] = narrow(value);
}

constexpr int KEYS = 32, HEADS = 64;  // of a block's tile
constexpr int KEY_PITCH = WIDTH + 4, SCORE_PITCH = KEYS + 4;

// A thread's part of a tile of keys: 4 x 8 latent elements, and 2 pairs that turn.
struct Keys {
    Eight latent[4];
    float first[2], second[2], cosine[2], sine[2];
};

__device__ void fetch_keys(Keys& keys, const short* cache, const float* cosine, const float* sine,
                           int key0, int to, int C, int P) {
    const int half = P / 2, pair = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        int at = threadIdx.x + 512 * i, key = key0 + at / 64;
        keys.latent[i] = eight(cache + (size_t)key * (C + P), at % 64 * 8, key < to ? C : 0);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        int key = key0 + threadIdx.x / 32 + 16 * i;
        bool has = key < to && pair < half;
        const short* place = cache + (size_t)key * (C + P) + C + pair;
        keys.first[i] = has ? widen(place[0]) : 0.0f;
        keys.second[i] = has ? widen(place[half]) : 0.0f;
        keys.cosine[i] = has ? cosine[key * half + pair] : 0.0f;
        keys.sine[i] = has ? sine[key * half + pair] : 0.0f;
    }
}

// Turned. Beyond P elements a key has zeros: pairs beyond half are these.
__device__ void store_keys(const Keys& keys, short (*tile)[KEY_PITCH], int P) {
    const int half = P / 2, pair = threadIdx.x % 32;
    const int place1 = LATENT + (pair < half ? pair : pair + half);
    const int place2 = LATENT + (pair < half ? pair + half : pair + 32);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        int at = threadIdx.x + 512 * i;
        put((Four*)&tile[at / 64][at % 64 * 8], keys.latent[i]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        float x1 = keys.first[i], x2 = keys.second[i], co = keys.cosine[i], si = keys.sine[i];
        short* key = tile[threadIdx.x / 32 + 16 * i];
        key[place1] = narrow(x1 * co - x2 * si);
        key[place2] = narrow(x2 * co + x1 * si);
    }
}

// Softmax so far: 8 threads a head, 4 of a tile's keys each. first: of the thread's keys; scale
// makes scores powers of two.
struct Softmax {
    float largest = -INFINITY, total = 0.0f;

    __device__ void add(const float (*scores)[SCORE_PITCH], short (*weights)[SCORE_PITCH],
                        float* shrink, int first, int to, float scale) {
        const int head = threadIdx.x / 8, place = threadIdx.x % 8 * 4;
        Sums s = *(const Sums*)&scores[head][place];
        float top = largest, sum = 0.0f;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            s[i] = first + i < to ? s[i] * scale : -INFINITY;
            top = fmaxf(top, s[i]);
        }
        for (int d = 1; d < 8; d *= 2) top = fmaxf(top, __shfl_xor(top, d));
        Four p;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float e = exp2f(s[i] - top);
            sum += e;
            p[i] = narrow(e);
        }
        for (int d = 1; d < 8; d *= 2) sum += __shfl_xor(sum, d);
        float less = exp2f(largest - top);
        total = total * less + sum;
        largest = top;
        *(Four*)&weights[head][place] = p;
        if (place == 0) shrink[head] = less;
    }
};

// Keys times weights for 64 columns from column0 on: sums[m][i] is of heads 16 m to 16 m + 15, and
// of columns 4 (lane % 16) + i, so that 4 columns of a key are read at once.
__device__ void add_values(Sums (*sums)[4], const short (*tile)[KEY_PITCH],
                           const short (*weights)[SCORE_PITCH], const float* shrink, int column0) {
    const int col = threadIdx.x % 16, deep = threadIdx.x % 64 / 16 * 4;
#pragma unroll
    for (int m = 0; m < 4; ++m) {
        Sums factor = *(const Sums*)&shrink[m * 16 + deep];
#pragma unroll
        for (int i = 0; i < 4; ++i) sums[m][i] *= factor;
    }
#pragma unroll
    for (int k = 0; k < KEYS; k += 16) {
        Four rows[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) rows[j] = *(const Four*)&tile[k + deep + j][column0 + 4 * col];
#pragma unroll
        for (int m = 0; m < 4; ++m) {
            Four p = *(const Four*)&weights[m * 16 + col][k + deep];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                Four v = {rows[0][i], rows[1][i], rows[2][i], rows[3][i]};
                sums[m][i] = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(p, v, sums[m][i], 0, 0, 0);
            }
        }
    }
}

// A block: 64 heads of a sequence, and a part of its keys, 32 a tile. Scores: a wavefront has
// 16 heads x 16 keys, by its queries in registers. Values: it has 64 latent columns of all heads.
// 16 x 16 x 16: a lane holds k = 4 (lane / 16) + 0 to 3 of row (or column) lane % 16, and sums of
// column lane % 16 in rows 4 (lane / 16) + e.
__global__ void __launch_bounds__(512)
attention(const short* query, const short* cache, const float* cosine, const float* sine,
          float* partial, float2* states, int H, int C, int N, int P, int T, int L) {
    __shared__ short tile[KEYS][KEY_PITCH] __attribute__((aligned(16)));
    __shared__ float scores[HEADS][SCORE_PITCH] __attribute__((aligned(16)));
    __shared__ short weights[HEADS][SCORE_PITCH] __attribute__((aligned(16)));
    __shared__ float shrink[HEADS] __attribute__((aligned(16)));
    const int t = threadIdx.x, lane = t % 64, wave = t / 64, col = lane % 16, deep = lane / 16 * 4;
    const int head0 = blockIdx.y * HEADS, my_heads = wave % 4 * 16, my_keys = wave / 4 * 16;
    const size_t b = blockIdx.z, split = b * SPLITS + blockIdx.x;
    const int each = (L + 1 + SPLITS * KEYS - 1) / (SPLITS * KEYS) * KEYS;
    const int from = blockIdx.x * each, to = min(L + 1, from + each);
    const float scale = 1.44269504f / sqrtf((float)(N + P));
    cache += b * T * (C + P);

    Four mine[WIDTH / 16], none = {};
#pragma unroll
    for (int k = 0; k < WIDTH / 16; ++k) {
        int head = head0 + my_heads + col;
        mine[k] = head < H ? *(const Four*)(query + (b * H + head) * WIDTH + k * 16 + deep) : none;
    }
    Sums sums[4][4] = {};
    Softmax softmax;
    Keys keys;
    fetch_keys(keys, cache, cosine, sine, from, to, C, P);
    for (int key0 = from; key0 < to; key0 += KEYS) {
        store_keys(keys, tile, P);
        __syncthreads();
        fetch_keys(keys, cache, cosine, sine, key0 + KEYS, to, C, P);
        Sums score = {};
#pragma unroll
        for (int k = 0; k < WIDTH / 16; ++k) {
            Four other = *(const Four*)&tile[my_keys + col][k * 16 + deep];
            score = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(mine[k], other, score, 0, 0, 0);
        }
#pragma unroll
        for (int e = 0; e < 4; ++e) scores[my_heads + deep + e][my_keys + col] = score[e];
        __syncthreads();
        softmax.add(scores, weights, shrink, key0 + t % 8 * 4, to, scale);
        __syncthreads();
        add_values(sums, tile, weights, shrink, wave * 64);
        __syncthreads();
    }
#pragma unroll
    for (int m = 0; m < 4; ++m)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            int head = head0 + m * 16 + deep + e;
            Sums four = {sums[m][0][e], sums[m][1][e], sums[m][2][e], sums[m][3][e]};
            float* place = partial + (split * H + head) * LATENT + wave * 64 + 4 * col;
            if (head < H) *(Sums*)place = four;
        }
    if (t % 8 == 0 && head0 + t / 8 < H)
        states[split * H + head0 + t / 8] = {softmax.largest, softmax.total};
}

// The parts of the keys together, 4 latent elements a thread.
__global__ void combine(const float* partial, const float2* states, short* mean, int C) {
    const int H = gridDim.x, h = blockIdx.x, c = threadIdx.x * 4;
    const size_t b = blockIdx.y;
    float top = -INFINITY, total = 0.0f;
    for (int i = 0; i < SPLITS; ++i) top = fmaxf(top, states[(b * SPLITS + i) * H + h].x);
    Sums sums = {};
    for (int i = 0; i < SPLITS; ++i) {
        size_t split = (b * SPLITS + i) * H + h;
        float weight = exp2f(states[split].x - top);
        total += states[split].y * weight;
        sums += *(const Sums*)(partial + split * LATENT + c) * weight;
    }
    for (int i = 0; i < 4; ++i)
        if (c + i < C) mean[(b * H + h) * C + c + i] = narrow(sums[i] / total);
}
