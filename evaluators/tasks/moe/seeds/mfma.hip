/*---
backends: [hip]
launches:
  - {memset: {buffer: count, byte: 0}}
  - kernel: route
    grid: ["B * S"]
    block: [256]
    lds_bytes: "4 * E"
    args: [x, router, score, count, list, {value: "B * S", type: int32}, E, D]
  - kernel: hidden<BM, BN, BK>
    grid: ["ceil_div(F, BN)", "ceil_div(4 * B * S, BM) + E + ceil_div(B * S, BM)"]
    block: [256]
    args: [x, gate, up, shared_gate, shared_up, count, list, h, {value: "B * S", type: int32},
           E, D, F]
  - kernel: output<BM, 2 * BN, BK>
    grid: ["ceil_div(D, 2 * BN)", "ceil_div(4 * B * S, BM) + E + ceil_div(B * S, BM)"]
    block: [256]
    args: [h, down, shared_down, count, list, part, {value: "B * S", type: int32}, E, D, F]
  - kernel: combine
    grid: ["B * S"]
    block: [256]
    args: [part, score, y, D]
scratch:
  score: "20 * B * S"
  count: "4 * E + 4"
  list: "4 * (E + 1) * B * S"
  h: "10 * B * S * F"
  part: "20 * B * S * D"
params: {BM: 128, BN: 64, BK: 32}
space: {BM: [64, 128], BN: [64, 128], BK: [16, 32, 64]}
constraints: ["BM * BK >= 2048", "BN * BK >= 2048", "(BM + 2 * BN) * BK <= 12288"]
---*/
// A mixture of experts on CDNA3's matrix cores, T tokens. Each has five slots: the experts chosen,
// and the shared one, which is number E. Slot s of token t is 5 t + s. Expert e has count[e] slots,
// list[e T] and those behind it. A block of 2 x 2 wavefronts multiplies BM of one expert's slots.
#include <hip/hip_fp16.h>
#define INLINE __device__ __forceinline__  // what a thread holds stays in registers then

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float Sums __attribute__((ext_vector_type(16)));

extern __shared__ float logits[];

// A block a token: logits, softmax over all experts, and the token in the lists of the best four.
__global__ void __launch_bounds__(256)
route(const _Float16* x, const _Float16* router, float* score, int* count, int* list, int T, int E,
      int D) {
    const int lane = threadIdx.x % 64, t = blockIdx.x;
    const _Float16* token = x + (size_t)t * D;
    for (int e = threadIdx.x / 64; e < E; e += 4) {
        const _Float16* weight = router + (size_t)e * D;
        float sum = 0.0f;
        if (D % 8 == 0) {
            for (int k = lane * 8; k < D; k += 512) {
                half8 a = *(const half8*)(token + k), b = *(const half8*)(weight + k);
                for (int j = 0; j < 8; ++j) sum += (float)a[j] * (float)b[j];
            }
        } else {
            for (int k = lane; k < D; k += 64) sum += (float)token[k] * (float)weight[k];
        }
        for (int distance = 32; distance > 0; distance /= 2) sum += __shfl_xor(sum, distance);
        if (lane == 0) logits[e] = sum;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    float largest = logits[0], total = 0.0f;
    for (int e = 1; e < E; ++e) largest = fmaxf(largest, logits[e]);
    for (int e = 0; e < E; ++e) total += expf(logits[e] - largest);
    for (int s = 0; s < 4; ++s) {
        int best = 0;
        for (int e = 1; e < E; ++e)
            if (logits[e] > logits[best]) best = e;
        score[5 * t + s] = expf(logits[best] - largest) / total;
        list[(size_t)best * T + atomicAdd(&count[best], 1)] = 5 * t + s;
        logits[best] = -INFINITY;
    }
    score[5 * t + 4] = 1.0f;
    list[(size_t)E * T + t] = 5 * t + 4;
    if (t == 0) count[E] = T;
}

// Which expert a block of the grid's y is for, and which of its slots: [0, rows) of slots. False
// for the blocks that are left over, as nobody knew the counts when the grid was launched.
template <int TM>
__device__ bool find(const int* count, const int* list, int T, int E, int& e, const int*& slots,
                     int& rows) {
    int tile = blockIdx.y;
    for (e = 0; e <= E; ++e) {
        int tiles = (count[e] + TM - 1) / TM;
        if (tile < tiles) break;
        tile -= tiles;
    }
    if (e > E) return false;
    slots = list + (size_t)e * T + tile * TM;
    rows = min(TM, count[e] - tile * TM);
    return true;
}

// COLS rows or columns of TK elements along k, in LDS: fours of neighbouring k, as a lane of an
// MFMA holds them, at [k / 4][column]. Two spare fours bring the lines into different banks.
template <int COLS, int TK> struct Tile {
    static constexpr int PITCH = COLS + 2;
    half4 fours[TK / 4 * PITCH];
};

// ROWS rows of TK elements on their way to LDS: a thread has EACH eights along k.
template <int ROWS, int TK> struct Rows {
    static constexpr int EACH = ROWS * TK / 8 / 256;
    const _Float16* row[EACH];  // null beyond the last
    half8 held[EACH];
    static __device__ int row_of(int i) { return (threadIdx.x + i * 256) / (TK / 8); }
    static __device__ int k_of(int i) { return (threadIdx.x + i * 256) % (TK / 8) * 8; }

    template <typename Place> __device__ explicit Rows(Place place) {
        for (int i = 0; i < EACH; ++i) row[i] = place(row_of(i));
    }

    INLINE void load(int k0, int K) {
        for (int i = 0; i < EACH; ++i) {
            const int k = k0 + k_of(i);
            held[i] = half8{};
            if (!row[i] || k >= K) continue;
            if (K % 8 == 0) held[i] = *(const half8*)(row[i] + k);
            else
                for (int j = 0; j < 8; ++j)
                    if (k + j < K) held[i][j] = row[i][k + j];
        }
    }

    INLINE void store(Tile<ROWS, TK>& tile) const {
        for (int i = 0; i < EACH; ++i) {
            half4* to = tile.fours + k_of(i) / 4 * tile.PITCH + row_of(i);
            to[0] = held[i].lo;
            to[tile.PITCH] = held[i].hi;
        }
    }
};

// TK x COLS elements of row-major weights on their way to LDS: a thread has EACH times four lines
// of four columns, and turns them.
template <int COLS, int TK> struct Columns {
    static constexpr int EACH = COLS * TK / 16 / 256;
    const _Float16* column[EACH];  // the first of four
    int width[EACH];               // how many of the four there are
    half4 held[EACH][4];
    static __device__ int column_of(int i) { return (threadIdx.x + i * 256) % (COLS / 4) * 4; }
    static __device__ int k_of(int i) { return (threadIdx.x + i * 256) / (COLS / 4) * 4; }

    // first: of the matrix that a column of the tile is of. side: where the tile begins in it.
    template <typename First> __device__ Columns(First first, int side, int repeat, int N) {
        for (int i = 0; i < EACH; ++i) {
            const int n = side + column_of(i) % repeat;
            column[i] = first(column_of(i)) + n;
            width[i] = N - n;
        }
    }

    INLINE void load(int k0, int K, int N) {
        for (int i = 0; i < EACH; ++i)
            for (int line = 0; line < 4; ++line) {
                const int k = k0 + k_of(i) + line;
                const _Float16* from = column[i] + (size_t)k * N;
                half4& four = held[i][line];
                four = half4{};
                if (width[i] <= 0 || k >= K) continue;
                if (N % 4 == 0) four = *(const half4*)from;
                else
                    for (int j = 0; j < 4; ++j)
                        if (j < width[i]) four[j] = from[j];
            }
    }

    INLINE void store(Tile<COLS, TK>& tile) const {
        for (int i = 0; i < EACH; ++i) {
            half4* to = tile.fours + k_of(i) / 4 * tile.PITCH + column_of(i);
            for (int j = 0; j < 4; ++j)
                to[j] = half4{held[i][0][j], held[i][1][j], held[i][2][j], held[i][3][j]};
        }
    }
};

// A wavefront's parts of a TM x TN tile, 32 x 32 elements each: rows wave / 2 * TM / 2 + 32 i and
// on, columns 64 j + wave % 2 * 32 and on. A lane holds one column: lane % 32.
template <int TM, int TN> struct Product {
    Sums sums[TM / 64][TN / 64] = {};

    static __device__ int row_of(int i, int element) {
        return threadIdx.x / 128 * (TM / 2) + 32 * i + 8 * (element / 4) +
               threadIdx.x % 64 / 32 * 4 + element % 4;
    }
    static __device__ int column_of(int j) {
        return 64 * j + threadIdx.x % 128 / 64 * 32 + threadIdx.x % 32;
    }

    // what(row, i, element) for each row below rows that this lane has elements of.
    template <typename What> __device__ void each(int rows, What what) const {
#pragma unroll
        for (int i = 0; i < TM / 64; ++i)
#pragma unroll
            for (int element = 0; element < 16; ++element)
                if (row_of(i, element) < rows) what(row_of(i, element), i, element);
    }

    // The sum over K; N: columns of the whole matrix of weights. What comes next is loaded to
    // registers while LDS is multiplied.
    template <int TK> INLINE void add(Rows<TM, TK>& a, Columns<TN, TK>& b, int K, int N) {
        __shared__ Tile<TM, TK> left;
        __shared__ Tile<TN, TK> right;
        const int lane = threadIdx.x % 64, top = threadIdx.x / 128 * (TM / 2);
        a.load(0, K);
        b.load(0, K, N);
        for (int k0 = 0; k0 < K; k0 += TK) {
            a.store(left);
            b.store(right);
            __syncthreads();
            if (k0 + TK < K) {
                a.load(k0 + TK, K);
                b.load(k0 + TK, K, N);
            }
#pragma unroll
            for (int k = 0; k < TK; k += 8) {
                const half4* of_a = left.fours + (k / 4 + lane / 32) * left.PITCH;
                const half4* of_b = right.fours + (k / 4 + lane / 32) * right.PITCH;
                half4 part_a[TM / 64], part_b[TN / 64];
#pragma unroll
                for (int i = 0; i < TM / 64; ++i) part_a[i] = of_a[top + 32 * i + lane % 32];
#pragma unroll
                for (int j = 0; j < TN / 64; ++j) part_b[j] = of_b[column_of(j)];
#pragma unroll
                for (int i = 0; i < TM / 64; ++i)
#pragma unroll
                    for (int j = 0; j < TN / 64; ++j)
                        sums[i][j] = __builtin_amdgcn_mfma_f32_32x32x8f16(part_a[i], part_b[j],
                                                                          sums[i][j], 0, 0, 0);
            }
            __syncthreads();
        }
    }
};

// h = silu(x gate) * (x up), rounded to float16: a tile's first TN columns are gate's, then up's.
template <int TM, int TN, int TK>
__global__ void __launch_bounds__(256)
hidden(const _Float16* x, const _Float16* gate, const _Float16* up, const _Float16* shared_gate,
       const _Float16* shared_up, const int* count, const int* list, _Float16* h, int T, int E,
       int D, int F) {
    int e, rows; const int* slots;
    if (!find<TM>(count, list, T, E, e, slots, rows)) return;
    gate = e == E ? shared_gate : gate + (size_t)e * D * F;
    up = e == E ? shared_up : up + (size_t)e * D * F;
    const int side = blockIdx.x * TN;
    Rows<TM, TK> a(
        [&](int row) { return row < rows ? x + (size_t)(slots[row] / 5) * D : nullptr; });
    Columns<2 * TN, TK> b([&](int column) { return column < TN ? gate : up; }, side, TN, F);
    Product<TM, 2 * TN> product;
    product.add(a, b, D, F);
    product.each(rows, [&](int row, int i, int element) {
        _Float16* to = h + (size_t)slots[row] * F + side;
        for (int j = 0; j < TN / 64; ++j) {
            const int column = product.column_of(j);
            float g = product.sums[i][j][element], u = product.sums[i][j + TN / 64][element];
            if (side + column < F) to[column] = (_Float16)(g / (1.0f + __expf(-g)) * u);
        }
    });
}

// part = h down, for each slot by itself, in float32.
template <int TM, int TN, int TK>
__global__ void __launch_bounds__(256)
output(const _Float16* h, const _Float16* down, const _Float16* shared_down, const int* count,
       const int* list, float* part, int T, int E, int D, int F) {
    int e, rows; const int* slots;
    if (!find<TM>(count, list, T, E, e, slots, rows)) return;
    down = e == E ? shared_down : down + (size_t)e * F * D;
    const int side = blockIdx.x * TN;
    Rows<TM, TK> a([&](int row) { return row < rows ? h + (size_t)slots[row] * F : nullptr; });
    Columns<TN, TK> b([&](int) { return down; }, side, TN, D);
    Product<TM, TN> product;
    product.add(a, b, F, D);
    product.each(rows, [&](int row, int i, int element) {
        float* to = part + (size_t)slots[row] * D + side;
        for (int j = 0; j < TN / 64; ++j) {
            const int column = product.column_of(j);
            if (side + column < D) to[column] = product.sums[i][j][element];
        }
    });
}

// A block a token: its five slots by their scores, always in the same order.
__global__ void __launch_bounds__(256)
combine(const float* part, const float* score, _Float16* y, int D) {
    const size_t t = blockIdx.x;
    for (int d = threadIdx.x; d < D; d += 256) {
        float sum = 0.0f;
        for (int s = 0; s < 5; ++s) sum += score[5 * t + s] * part[(5 * t + s) * D + d];
        y[t * D + d] = (_Float16)sum;
    }
}
