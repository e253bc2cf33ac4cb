/*---
backends: [hip]
launches:
  - kernel: fp8_gemm
    grid: ["ceil_div(N, BN) * ceil_div(M, BM)", SPLIT]
    block: ["64 * WAVES_M * WAVES_N"]
    args: [a, b, a_scale, b_scale, c, partial, M, N, K]
  - kernel: add_parts
    when: "SPLIT > 1"
    grid: ["ceil_div(M * N // 4, 256)"]
    block: [256]
    args: [partial, c, {value: "M * N", type: int64}]
scratch: {partial: "max(16, (SPLIT > 1) * SPLIT * M * N * 4)"}
params: {SIDE: 32, BM: 128, BN: 128, BK: 128, WAVES_M: 2, WAVES_N: 2, STAGES: 2, SWIZZLE: 1, RUN: 4, XCDS: 1, SPLIT: 1}
space:
  SIDE: [16, 32]
  BM: [32, 64, 128, 256]
  BN: [32, 64, 128, 256]
  BK: [32, 64, 128]
  WAVES_M: [1, 2, 4]
  WAVES_N: [1, 2, 4]
  STAGES: [1, 2, 3]
  SWIZZLE: [0, 1]
  RUN: [4, 8]
  XCDS: [1, 8]
  SPLIT: [1, 2, 4, 8]
constraints:
  - "BM % (WAVES_M * SIDE) == 0"
  - "BN % (WAVES_N * SIDE) == 0"
  - "WAVES_M * WAVES_N <= 8"
  - "BN <= WAVES_N * SIDE * 4"
  # Bytes of LDS for tiles and their padding; eight wavefronts, two a SIMD, fit beside each other.
  - "65536 // ((1 + (STAGES == 3)) * (BM + BN) * (BK + (SWIZZLE == 0) * 9)) * WAVES_M * WAVES_N >= 8"
  # Every thread has something to bring.
  - "(BM + BN) * BK >= 16 * RUN * 64 * WAVES_M * WAVES_N"
  # Registers: sums, operands of a stage, those of one product, and the next tiles on their way.
  - "BM * BN // (64 * WAVES_M * WAVES_N) + BM * BK // (WAVES_M * 256) + SIDE * BK // 256 + BM * SIDE // (WAVES_M * 64) + (STAGES > 1) * (BM + BN) * BK // (256 * WAVES_M * WAVES_N) <= 136 + (SIDE == 32) * 40"
---*/
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>

// Matrix cores of CDNA3: a block of WAVES_M x WAVES_N wavefronts makes BM x BN outputs, BK steps of k
// at a time. b is the instruction's first operand, so that a lane's results lie in one column m of
// its matrix D, with four neighbours n: one scale of a a lane, stores of 8 bytes.
// SIDE: 32 for v_mfma_f32_32x32x16_fp8_fp8, 16 for v_mfma_f32_16x16x32_fp8_fp8.
// RUN: a thread brings RUN x 16 bytes, and turns them so that k runs on in LDS.
// STAGES: 2 has the next tiles on their way in registers, 3 also two sets of tiles in LDS.
// SWIZZLE: 1 spreads rows of LDS over banks by exchanging chunks of 8 bytes, 0 by padding.
// XCDS: 8 keeps neighbouring tiles on one of the device's dies, among which blocks are dealt.
// SPLIT: k is cut into so many parts, added in a second launch.
typedef unsigned int Word;
typedef float Sums __attribute__((ext_vector_type(SIDE * SIDE / 64)));

#define THREADS (64 * WAVES_M * WAVES_N)
#define HEIGHT (BM + BN)  // rows of LDS: those of a's tile, then those of b's
#define STEP (512 / SIDE)  // of k, an instruction
#define STEPS (BK / STEP)
#define TILES_M (BM / WAVES_M / SIDE)  // of a wavefront
#define TILES_N (BN / WAVES_N / SIDE)
#define UNITS (HEIGHT / 16 * (BK / RUN))
#define HELD ((UNITS + THREADS - 1) / THREADS)  // units that a thread brings
#define PAD (SWIZZLE ? 0 : 8)
#define BYTES(ROWS) ((ROWS) * (BK + PAD) + (ROWS) / 16 * PAD)  // of so many rows of LDS

__device__ inline Sums multiply(long b, long a, Sums sums) {
#if SIDE == 32
    return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(b, a, sums, 0, 0, 0);
#else
    return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(b, a, sums, 0, 0, 0);
#endif
}

// Where a chunk of 8 steps of k lies in LDS, in bytes from its tile. Neither 16 rows nor 16 times
// that are a step of all banks: a wavefront reads neighbouring rows, and writes each sixteenth.
__device__ inline int place(int row, int chunk) {
    const int turned = SWIZZLE ? (chunk ^ row ^ row / 16) % (BK / 8) : chunk;
    return BYTES(row) + turned * 8;
}

// The same for a row so many tiles of a wavefront below, and a later instruction's chunk. All that
// is added is known to the compiler: rows of a wavefront's first tile have no bits in common.
__device__ inline int beyond(int place, int tile, int step) {
    const int chunk = step * STEP / 8;
    if (SWIZZLE) return (place ^ (chunk ^ tile * SIDE / 16) % (BK / 8) * 8) + BYTES(tile * SIDE);
    return place + chunk * 8 + BYTES(tile * SIDE);
}

// All wavefronts' stores to LDS are through. The wait stands here by itself, as hiprtc 7.2 leaves
// it out of __syncthreads() at the head of some loops (4 x 1 wavefronts, 128 x 128 x 64, 3 stages).
__device__ inline void synchronise() {
    __builtin_amdgcn_s_waitcnt(0xC07F);  // lgkmcnt(0)
    __syncthreads();
}

// Four words of four bytes, one for each step of k, become four with k running on in each.
__device__ inline void turn(const Word from[4], Word to[4]) {
    const Word low = __builtin_amdgcn_perm(from[1], from[0], 0x05010400);
    const Word high = __builtin_amdgcn_perm(from[1], from[0], 0x07030602);
    const Word low2 = __builtin_amdgcn_perm(from[3], from[2], 0x05010400);
    const Word high2 = __builtin_amdgcn_perm(from[3], from[2], 0x07030602);
    to[0] = __builtin_amdgcn_perm(low2, low, 0x05040100);
    to[1] = __builtin_amdgcn_perm(low2, low, 0x07060302);
    to[2] = __builtin_amdgcn_perm(high2, high, 0x05040100);
    to[3] = __builtin_amdgcn_perm(high2, high, 0x07060302);
}

// A thread's units of the tiles at k0: 16 neighbouring rows, RUN steps of k each.
__device__ inline void bring(uint4 (&held)[HELD][RUN], const unsigned char* a,
                             const unsigned char* b, int M, int N, int top, int side, int k0) {
#pragma unroll
    for (int e = 0; e < HELD; ++e) {
        const int unit = threadIdx.x + e * THREADS;
        const int row = unit % (HEIGHT / 16) * 16, k = k0 + unit / (HEIGHT / 16) * RUN;
        const bool of_a = row < BM;
        const int at = of_a ? top + row : side + row - BM, size = of_a ? M : N;
        const bool inside = unit < UNITS && at < size;
        const unsigned char* from = (of_a ? a : b) + (size_t)k * size + at;
#pragma unroll
        for (int i = 0; i < RUN; ++i) {
            held[e][i] = inside ? *(const uint4*)(from + (size_t)i * size) : uint4{0, 0, 0, 0};
        }
    }
}

__device__ inline void put(unsigned char* tiles, const uint4 (&held)[HELD][RUN]) {
#pragma unroll
    for (int e = 0; e < HELD; ++e) {
        const int unit = threadIdx.x + e * THREADS;
        const int row = unit % (HEIGHT / 16) * 16, k = unit / (HEIGHT / 16) * RUN;
        unsigned char* tile = tiles + (row < BM ? 0 : BYTES(BM));
        if (unit >= UNITS) continue;
#pragma unroll
        for (int four = 0; four < 4; ++four) {
            Word turned[RUN / 4][4];
#pragma unroll
            for (int run = 0; run < RUN / 4; ++run) {
                Word words[4];
#pragma unroll
                for (int i = 0; i < 4; ++i) words[i] = (&held[e][4 * run + i].x)[four];
                turn(words, turned[run]);
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int own = (row < BM ? row : row - BM) + 4 * four + i;
                unsigned char* to = tile + place(own, k / 8) + k % 8;
#if RUN == 8
                *(uint2*)to = uint2{turned[0][i], turned[1][i]};
#else
                *(Word*)to = turned[0][i];
#endif
            }
        }
    }
}

// sums += the stage's products, scaled; row_m, row_n: this lane's first rows of both tiles.
__device__ inline void accumulate(Sums (&sums)[TILES_M][TILES_N], const unsigned char* tiles,
                                  const float (&scales_m)[TILES_M],
                                  const float (&scales_n)[TILES_N], int row_m, int row_n) {
    const int chunk = threadIdx.x % 64 / SIDE;
    const int place_m = place(row_m, chunk), place_n = place(row_n, chunk);
    long left[TILES_M][STEPS];
#pragma unroll
    for (int i = 0; i < TILES_M; ++i)
#pragma unroll
        for (int k = 0; k < STEPS; ++k)
            left[i][k] = *(const long*)(tiles + beyond(place_m, i, k));
#pragma unroll
    for (int j = 0; j < TILES_N; ++j) {
        long right[STEPS];
#pragma unroll
        for (int k = 0; k < STEPS; ++k)
            right[k] = *(const long*)(tiles + BYTES(BM) + beyond(place_n, j, k));
        Sums parts[TILES_M] = {};
#pragma unroll
        for (int k = 0; k < STEPS; ++k)
#pragma unroll
            for (int i = 0; i < TILES_M; ++i) parts[i] = multiply(right[k], left[i][k], parts[i]);
#pragma unroll
        for (int i = 0; i < TILES_M; ++i) sums[i][j] += parts[i] * (scales_m[i] * scales_n[j]);
    }
}

__device__ inline unsigned short to_bfloat16(float value) {
    return __builtin_bit_cast(unsigned short, __float2bfloat16(value));
}

__global__ void __launch_bounds__(THREADS) __attribute__((amdgpu_waves_per_eu(2)))
fp8_gemm(const unsigned char* __restrict__ a, const unsigned char* __restrict__ b,
         const float* __restrict__ a_scale, const float* __restrict__ b_scale,
         __hip_bfloat16* __restrict__ c, float* __restrict__ partial, int M, int N, int K) {
    __shared__ __attribute__((aligned(16))) unsigned char tiles[STAGES == 3 ? 2 : 1][BYTES(HEIGHT)];
    int block = blockIdx.x;
    if (XCDS > 1 && gridDim.x % XCDS == 0) {
        block = block % XCDS * (gridDim.x / XCDS) + block / XCDS;
    }
    const int across = (N + BN - 1) / BN, wide = (N + 127) / 128;
    const int top = block / across * BM, side = block % across * BN;
    const int blocks = K / 128, part = blockIdx.y;
    const int first = blocks * part / SPLIT * 128, last = blocks * (part + 1) / SPLIT * 128;

    const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    const int own_m = wave / WAVES_N * TILES_M * SIDE, own_n = wave % WAVES_N * TILES_N * SIDE;
    const int row_m = own_m + lane % SIDE, row_n = own_n + lane % SIDE;

    uint4 held[HELD][RUN];
    Sums sums[TILES_M][TILES_N] = {};
#if STAGES > 1
    bring(held, a, b, M, N, top, side, first);
#endif
#if STAGES == 3
    put(tiles[0], held);
#endif
    for (int k0 = first; k0 < last; k0 += BK) {
        float scales_m[TILES_M], scales_n[TILES_N];
#pragma unroll
        for (int i = 0; i < TILES_M; ++i)
            scales_m[i] = a_scale[(size_t)(k0 / 128) * M + min(top + row_m + i * SIDE, M - 1)];
#pragma unroll
        for (int j = 0; j < TILES_N; ++j)
            scales_n[j] = b_scale[k0 / 128 * wide + min(side + own_n + j * SIDE, N - 1) / 128];
        const int next = k0 + BK < last ? k0 + BK : first;
#if STAGES == 3
        const int now = (k0 - first) / BK % 2;
        synchronise();
        bring(held, a, b, M, N, top, side, next);
        accumulate(sums, tiles[now], scales_m, scales_n, row_m, row_n);
        put(tiles[1 - now], held);
#else
#if STAGES == 1
        bring(held, a, b, M, N, top, side, k0);
#endif
        put(tiles[0], held);
        synchronise();
#if STAGES == 2
        bring(held, a, b, M, N, top, side, next);
#endif
        accumulate(sums, tiles[0], scales_m, scales_n, row_m, row_n);
        synchronise();
#endif
    }

#pragma unroll
    for (int i = 0; i < TILES_M; ++i) {
        const int m = top + row_m + i * SIDE;
#pragma unroll
        for (int j = 0; j < TILES_N; ++j) {
#pragma unroll
            for (int four = 0; four < SIDE * SIDE / 256; ++four) {
                // Of D a lane has rows 8 four + 4 (lane / 32) on of 32, or 4 (lane / 16) of 16.
                const int n = side + own_n + j * SIDE + 8 * four + lane / SIDE * 4;
                if (m >= M || n >= N) continue;
                const size_t at = (size_t)m * N + n;
                const Sums& of = sums[i][j];
                const float x = of[4 * four], y = of[4 * four + 1];
                const float z = of[4 * four + 2], w = of[4 * four + 3];
                if (SPLIT > 1) {
                    *(float4*)(partial + (size_t)part * M * N + at) = float4{x, y, z, w};
                } else {
                    *(ushort4*)(c + at) = ushort4{to_bfloat16(x), to_bfloat16(y), to_bfloat16(z),
                                                  to_bfloat16(w)};
                }
            }
        }
    }
}

__global__ void add_parts(const float* __restrict__ partial, __hip_bfloat16* __restrict__ c,
                          long count) {
    const long at = ((long)blockIdx.x * 256 + threadIdx.x) * 4;
    if (at >= count) return;
    float sums[4] = {};
    for (int part = 0; part < SPLIT; ++part) {
        const float4 more = *(const float4*)(partial + part * count + at);
        sums[0] += more.x;
        sums[1] += more.y;
        sums[2] += more.z;
        sums[3] += more.w;
    }
    *(ushort4*)(c + at) = ushort4{to_bfloat16(sums[0]), to_bfloat16(sums[1]), to_bfloat16(sums[2]),
                                  to_bfloat16(sums[3])};
}
