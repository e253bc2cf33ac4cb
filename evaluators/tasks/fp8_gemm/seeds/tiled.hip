/*---
launches:
  - kernel: fp8_gemm
    grid: ["ceil_div(N, BX * TN)", "ceil_div(M, BY * TM)", SPLIT]
    block: [BX, BY]
    args: [a, b, a_scale, b_scale, c, partial, M, N, K]
  - kernel: add_parts
    when: "SPLIT > 1"
    grid: ["ceil_div(M * N, 256)"]
    block: [256]
    args: [partial, c, {value: "M * N", type: int32}]
scratch: {partial: "max(4, (SPLIT > 1) * SPLIT * M * N * 4)"}
params: {TM: 4, TN: 4, BX: 16, BY: 16, BK: 16, SPREAD: 0, AHEAD: 0, SPLIT: 1}
space:
  TM: [4, 8, 16]
  TN: [4, 8, 16]
  BX: [4, 8, 16, 32]
  BY: [4, 8, 16, 32]
  BK: [8, 16, 32, 64]
  SPREAD: [0, 1]
  AHEAD: [0, 1]
  SPLIT: [1, 2, 4, 8]
constraints:
  - "TM * TN <= 128"
  - "BX * BY >= 32"
  - "BX * BY <= 512"
  - "BX * BY * TM * TN <= 32768"
  - "4 * BK * (BY * TM + BX * TN) <= 49152"
  - "BK * (BY * TM + BX * TN) <= 64 * BX * BY"
---*/
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>

// A block computes (BY TM) x (BX TN) outputs from tiles of a and b in LDS, BK steps of k at a time,
// which are scaled on their way there; a thread computes TM x TN of them in registers.
// SPREAD: a thread's columns stand in groups of four, BX groups apart, not side by side.
// AHEAD: the next tiles are on their way to registers while the present ones are multiplied.
// SPLIT: k is cut into so many parts, each summed by blocks of its own, added in a second launch.
#define THREADS (BX * BY)
#define BM (BY * TM)
#define BN (BX * TN)

// Groups of four that a thread brings of a tile, so many columns wide.
#define GROUPS(WIDTH) ((BK * (WIDTH) / 4 + THREADS - 1) / THREADS)

// Rows k0 to k0 + BK of a or b, columns from `side` on; zero beyond the matrix. A scale is for
// `span` columns, of which there are `spans` in a row.
template <int WIDTH>
__device__ inline void load(unsigned (&held)[GROUPS(WIDTH)], float (&scales)[GROUPS(WIDTH)][4],
                            const __hip_fp8_e4m3_fnuz* from, const float* scale, int size,
                            int span, int spans, int side, int k0, int thread) {
#pragma unroll
    for (int e = 0; e < GROUPS(WIDTH); ++e) {
        const int group = thread + e * THREADS;
        const int k = k0 + group / (WIDTH / 4), at = side + group % (WIDTH / 4) * 4;
        const bool inside = group < BK * WIDTH / 4 && at < size;
        held[e] = inside ? *(const unsigned*)(from + (size_t)k * size + at) : 0;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            scales[e][i] = inside ? scale[(size_t)(k / 128) * spans + (at + i) / span] : 0.0f;
        }
    }
}

template <int WIDTH>
__device__ inline void store(float (&tile)[BK][WIDTH], const unsigned (&held)[GROUPS(WIDTH)],
                             const float (&scales)[GROUPS(WIDTH)][4], int thread) {
#pragma unroll
    for (int e = 0; e < GROUPS(WIDTH); ++e) {
        const int group = thread + e * THREADS;
        if (group < BK * WIDTH / 4) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                __hip_fp8_e4m3_fnuz value;
                value.__x = held[e] >> 8 * i & 255;
                tile[group / (WIDTH / 4)][group % (WIDTH / 4) * 4 + i] = (float)value * scales[e][i];
            }
        }
    }
}

__device__ inline int column_of(int thread, int j) {
    return SPREAD ? (j / 4 * BX + thread) * 4 + j % 4 : thread * TN + j;
}

__global__ __launch_bounds__(THREADS) void fp8_gemm(const __hip_fp8_e4m3_fnuz* __restrict__ a,
                                                    const __hip_fp8_e4m3_fnuz* __restrict__ b,
                                                    const float* __restrict__ a_scale,
                                                    const float* __restrict__ b_scale,
                                                    __hip_bfloat16* __restrict__ c,
                                                    float* __restrict__ partial, int M, int N,
                                                    int K) {
    __shared__ __attribute__((aligned(16))) float tile_a[BK][BM];
    __shared__ __attribute__((aligned(16))) float tile_b[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * BX + tx;
    const int top = blockIdx.y * BM, side = blockIdx.x * BN;
    const int wide = (N + 127) / 128;
    const int part = blockIdx.z;
    const int first = K / 128 * part / SPLIT * 128, last = K / 128 * (part + 1) / SPLIT * 128;

    unsigned held_a[GROUPS(BM)], held_b[GROUPS(BN)];
    float scales_a[GROUPS(BM)][4], scales_b[GROUPS(BN)][4];
    float sums[TM][TN] = {};
#if AHEAD
    load<BM>(held_a, scales_a, a, a_scale, M, 1, M, top, first, thread);
    load<BN>(held_b, scales_b, b, b_scale, N, 128, wide, side, first, thread);
#endif
    for (int k0 = first; k0 < last; k0 += BK) {
#if !AHEAD
        load<BM>(held_a, scales_a, a, a_scale, M, 1, M, top, k0, thread);
        load<BN>(held_b, scales_b, b, b_scale, N, 128, wide, side, k0, thread);
#endif
        store<BM>(tile_a, held_a, scales_a, thread);
        store<BN>(tile_b, held_b, scales_b, thread);
        __syncthreads();
#if AHEAD
        const int next = k0 + BK < last ? k0 + BK : first;
        load<BM>(held_a, scales_a, a, a_scale, M, 1, M, top, next, thread);
        load<BN>(held_b, scales_b, b, b_scale, N, 128, wide, side, next, thread);
#endif
        for (int k = 0; k < BK; ++k) {
            float rows[TM], cols[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i) rows[i] = tile_a[k][ty * TM + i];
#pragma unroll
            for (int j = 0; j < TN; ++j) cols[j] = tile_b[k][column_of(tx, j)];
#pragma unroll
            for (int i = 0; i < TM; ++i) {
#pragma unroll
                for (int j = 0; j < TN; ++j) sums[i][j] += rows[i] * cols[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int row = top + ty * TM + i, col = side + column_of(tx, j);
            if (row < M && col < N) {
                const size_t at = (size_t)row * N + col;
                if (SPLIT > 1) {
                    partial[(size_t)part * M * N + at] = sums[i][j];
                } else {
                    c[at] = __float2bfloat16(sums[i][j]);
                }
            }
        }
    }
}

__global__ void add_parts(const float* __restrict__ partial, __hip_bfloat16* __restrict__ c,
                          int count) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) {
        float sum = 0.0f;
        for (int part = 0; part < SPLIT; ++part) sum += partial[(size_t)part * count + at];
        c[at] = __float2bfloat16(sum);
    }
}
