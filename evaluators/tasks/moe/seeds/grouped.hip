/*---
launches:
  - {memset: {buffer: count, byte: 0}}
  - kernel: route
    grid: ["B * S"]
    block: [64]
    lds_bytes: "4 * E"
    args: [x, router, score, count, list, {value: "B * S", type: int32}, E, D]
  - kernel: hidden
    grid: ["ceil_div(F, BX * TN)", "ceil_div(4 * B * S, BY * TM) + E + ceil_div(B * S, BY * TM)"]
    block: [BX, BY]
    args: [x, gate, up, shared_gate, shared_up, count, list, h, {value: "B * S", type: int32}, E, D, F]
  - kernel: output
    grid: ["ceil_div(D, 2 * BX * TN)", "ceil_div(4 * B * S, BY * TM) + E + ceil_div(B * S, BY * TM)"]
    block: [BX, BY]
    args: [h, down, shared_down, count, list, part, {value: "B * S", type: int32}, E, D, F]
  - kernel: combine
    grid: ["ceil_div(D, 256)", "B * S"]
    block: [256]
    args: [part, score, y, D]
scratch:
  score: "20 * B * S"
  count: "4 * E + 4"
  list: "4 * (E + 1) * B * S"
  h: "10 * B * S * F"
  part: "20 * B * S * D"
params: {TM: 8, TN: 4, BX: 16, BY: 8, BK: 16}
space:
  TM: [2, 4, 8]
  TN: [1, 2, 4]
  BX: [8, 16, 32]
  BY: [4, 8, 16]
  BK: [8, 16, 32]
constraints:
  - "BX * BY >= 64"
  - "4 * BK * (BY * TM + 4 + 2 * BX * TN) <= 49152"
---*/
#include <hip/hip_fp16.h>

// A mixture of experts, T tokens. Each has five slots: the experts chosen, and the shared one,
// which is number E. Slot s of token t is 5 t + s. Expert e has count[e] slots, list[e T] and those
// behind it: a block multiplies BM slots of one expert, so that they share the weights it reads.
// A thread computes TM x 2 TN sums in registers, from tiles of BK steps of k in LDS.
#define THREADS (BX * BY)
#define BM (BY * TM)
#define BN (BX * TN)

extern __shared__ float logits[];

// A block a token: logits, softmax over all experts, and the token in the lists of the best four.
__global__ void route(const __half* x, const __half* router, float* score, int* count, int* list,
                      int T, int E, int D) {
    __shared__ float sums[64];
    const int lane = threadIdx.x, t = blockIdx.x;
    for (int e = 0; e < E; ++e) {
        float sum = 0.0f;
        for (int k = lane; k < D; k += 64) {
            sum += __half2float(x[(size_t)t * D + k]) * __half2float(router[(size_t)e * D + k]);
        }
        sums[lane] = sum;
        __syncthreads();
        for (int distance = 32; distance > 0; distance /= 2) {
            if (lane < distance) sums[lane] += sums[lane + distance];
            __syncthreads();
        }
        if (lane == 0) logits[e] = sums[0];
    }
    if (lane == 0) {
        float largest = logits[0], total = 0.0f;
        for (int e = 1; e < E; ++e) largest = fmaxf(largest, logits[e]);
        for (int e = 0; e < E; ++e) total += expf(logits[e] - largest);
        for (int s = 0; s < 4; ++s) {
            int best = 0;
            for (int e = 1; e < E; ++e) {
                if (logits[e] > logits[best]) best = e;
            }
            score[5 * t + s] = expf(logits[best] - largest) / total;
            list[(size_t)best * T + atomicAdd(&count[best], 1)] = 5 * t + s;
            logits[best] = -INFINITY;
        }
        score[5 * t + 4] = 1.0f;
        list[(size_t)E * T + t] = 5 * t + 4;
        if (t == 0) count[E] = T;
    }
}

// Which expert a block of the grid's y is for, and which of its slots: [0, rows) of slots. False
// for the blocks that are left over, as nobody knew the counts when the grid was launched.
__device__ inline bool find(const int* count, const int* list, int T, int E, int& e,
                            const int*& slots, int& rows) {
    int tile = blockIdx.y;
    for (e = 0; e <= E; ++e) {
        const int tiles = (count[e] + BM - 1) / BM;
        if (tile < tiles) break;
        tile -= tiles;
    }
    if (e > E) return false;
    slots = list + (size_t)e * T + tile * BM;
    rows = min(BM, count[e] - tile * BM);
    return true;
}

// Steps k0 to k0 + BK of the rows of a that the slots name, `each` slots a row; zero beyond.
__device__ inline void load_rows(float (&tile)[BK][BM + 4], const __half* a, const int* slots,
                                 int each, int rows, int k0, int K, int thread) {
#pragma unroll
    for (int i = thread; i < BK * BM; i += THREADS) {
        const int k = i % BK, row = i / BK;
        const bool inside = row < rows && k0 + k < K;
        tile[k][row] = inside ? __half2float(a[(size_t)(slots[row] / each) * K + k0 + k]) : 0.0f;
    }
}

// BN columns of weights from column n0 on, into a tile's columns from `at` on; zero beyond.
__device__ inline void load_columns(float (&tile)[BK][2 * BN], int at, const __half* weights,
                                    int k0, int K, int n0, int N, int thread) {
#pragma unroll
    for (int i = thread; i < BK * BN; i += THREADS) {
        const int k = i / BN, n = i % BN;
        const bool inside = k0 + k < K && n0 + n < N;
        tile[k][at + n] = inside ? __half2float(weights[(size_t)(k0 + k) * N + n0 + n]) : 0.0f;
    }
}

// A thread's columns stand BX apart, so that neighbours read neighbours.
__device__ inline void multiply(float (&sums)[TM][2 * TN], const float (&tile_a)[BK][BM + 4],
                                const float (&tile_b)[BK][2 * BN], int tx, int ty) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
        float rows[TM], columns[2 * TN];
#pragma unroll
        for (int i = 0; i < TM; ++i) rows[i] = tile_a[k][ty * TM + i];
#pragma unroll
        for (int j = 0; j < 2 * TN; ++j) columns[j] = tile_b[k][tx + j * BX];
#pragma unroll
        for (int i = 0; i < TM; ++i) {
#pragma unroll
            for (int j = 0; j < 2 * TN; ++j) sums[i][j] += rows[i] * columns[j];
        }
    }
}

// h = silu(x gate) * (x up): a tile's first BN columns are gate's, the others up's.
__global__ __launch_bounds__(THREADS) void hidden(const __half* x, const __half* gate,
                                                  const __half* up, const __half* shared_gate,
                                                  const __half* shared_up, const int* count,
                                                  const int* list, __half* h, int T, int E, int D,
                                                  int F) {
    __shared__ __attribute__((aligned(16))) float tile_a[BK][BM + 4];
    __shared__ __attribute__((aligned(16))) float tile_b[BK][2 * BN];
    int e, rows;
    const int* slots;
    if (!find(count, list, T, E, e, slots, rows)) return;
    const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * BX + tx, side = blockIdx.x * BN;
    const __half* gates = e == E ? shared_gate : gate + (size_t)e * D * F;
    const __half* ups = e == E ? shared_up : up + (size_t)e * D * F;
    float sums[TM][2 * TN] = {};
    for (int k0 = 0; k0 < D; k0 += BK) {
        load_rows(tile_a, x, slots, 5, rows, k0, D, thread);
        load_columns(tile_b, 0, gates, k0, D, side, F, thread);
        load_columns(tile_b, BN, ups, k0, D, side, F, thread);
        __syncthreads();
        multiply(sums, tile_a, tile_b, tx, ty);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int row = ty * TM + i, f = side + tx + j * BX;
            if (row < rows && f < F) {
                const float g = sums[i][j], u = sums[i][j + TN];
                h[(size_t)slots[row] * F + f] = __float2half(g / (1.0f + expf(-g)) * u);
            }
        }
    }
}

// part = h down, for each slot by itself.
__global__ __launch_bounds__(THREADS) void output(const __half* h, const __half* down,
                                                  const __half* shared_down, const int* count,
                                                  const int* list, float* part, int T, int E, int D,
                                                  int F) {
    __shared__ __attribute__((aligned(16))) float tile_a[BK][BM + 4];
    __shared__ __attribute__((aligned(16))) float tile_b[BK][2 * BN];
    int e, rows;
    const int* slots;
    if (!find(count, list, T, E, e, slots, rows)) return;
    const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * BX + tx, side = blockIdx.x * 2 * BN;
    const __half* downs = e == E ? shared_down : down + (size_t)e * F * D;
    float sums[TM][2 * TN] = {};
    for (int k0 = 0; k0 < F; k0 += BK) {
        load_rows(tile_a, h, slots, 1, rows, k0, F, thread);
        load_columns(tile_b, 0, downs, k0, F, side, D, thread);
        load_columns(tile_b, BN, downs, k0, F, side + BN, D, thread);
        __syncthreads();
        multiply(sums, tile_a, tile_b, tx, ty);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < 2 * TN; ++j) {
            const int row = ty * TM + i, d = side + tx + j * BX;
            if (row < rows && d < D) part[(size_t)slots[row] * D + d] = sums[i][j];
        }
    }
}

// One output a thread: a token's five slots by their scores, always in the same order.
__global__ void combine(const float* part, const float* score, __half* y, int D) {
    const int d = blockIdx.x * blockDim.x + threadIdx.x;
    const size_t t = blockIdx.y;
    if (d < D) {
        float sum = 0.0f;
        for (int s = 0; s < 5; ++s) sum += score[5 * t + s] * part[(5 * t + s) * D + d];
        y[t * D + d] = __float2half(sum);
    }
}
