/*---
launches:
  - kernel: gemm<TILE, BM, BN, BK>
    grid: ["ceil_div(N, BN)", "ceil_div(M, BM)"]
    block: [256]
    args: [a, b, c, M, N, K]
params: {TILE: 32, BM: 128, BN: 128, BK: 64}
space: {TILE: [16, 32], BM: [64, 128, 256], BN: [64, 128, 256], BK: [32, 64, 128]}
constraints: ["BM * BN <= 32768", "(BM + BN) * (BK + 16) <= 65536"]
---*/
// fp8 (e4m3fnuz) matrix product on CDNA3's matrix cores: c = a b^T, single-precision sums.
// A block of 2 x 2 wavefronts makes a TM x TN tile of c; K goes through LDS, TK at a time.
#include <hip/hip_runtime.h>

// layout begin: which matrix element a lane of a wavefront holds. SIDE: 32 for 32x32, 16 for
// 16x16 instructions; HELD: elements of A (or B) that a lane holds, 8 for fp8.
template <int SIDE> __host__ __device__ constexpr int row_of_a(int lane) { return lane % SIDE; }

template <int SIDE> __host__ __device__ constexpr int col_of_b(int lane) { return lane % SIDE; }

template <int SIDE, int HELD> __host__ __device__ constexpr int k_of(int lane, int element) {
    return HELD * (lane / SIDE) + element;
}

template <int SIDE> __host__ __device__ constexpr int row_of_d(int lane, int element) {
    return SIDE == 32 ? 8 * (element / 4) + 4 * (lane / 32) + element % 4
                      : 4 * (lane / 16) + element;
}

template <int SIDE> __host__ __device__ constexpr int col_of_d(int lane) { return lane % SIDE; }
// layout end

template <int SIDE> struct Mfma;

template <> struct Mfma<32> {
    static constexpr int K = 16;
    typedef float Sums __attribute__((ext_vector_type(16)));
    static __device__ Sums multiply(long a, long b, Sums d) {
        return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a, b, d, 0, 0, 0);
    }
};

template <> struct Mfma<16> {
    static constexpr int K = 32;
    typedef float Sums __attribute__((ext_vector_type(4)));
    static __device__ Sums multiply(long a, long b, Sums d) {
        return __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a, b, d, 0, 0, 0);
    }
};

constexpr int HELD = 8;    // fp8 elements in a lane's two registers
constexpr int CHUNK = 16;  // bytes that a thread moves at once

// ROWS x TK bytes of a row-major matrix to LDS; zeros beyond its edges. A row of LDS is padded
// by 16 bytes, so that neighbouring lanes' rows start in different banks.
template <int ROWS, int TK>
__device__ void stage(const unsigned char* from, unsigned char* tile, int row0, int rows, int k0,
                      int K) {
    for (int i = threadIdx.x; i < ROWS * TK / CHUNK; i += blockDim.x) {
        int row = i / (TK / CHUNK), k = i % (TK / CHUNK) * CHUNK;
        uint4 chunk = {0, 0, 0, 0};
        if (row0 + row < rows) {
            const unsigned char* line = from + (size_t)(row0 + row) * K + k0 + k;
            if (K % CHUNK == 0 && k0 + k < K) {
                chunk = *(const uint4*)line;
            } else {
                for (int byte = 0; byte < CHUNK && k0 + k + byte < K; ++byte) {
                    unsigned int part = (unsigned int)line[byte] << (8 * (byte % 4));
                    if (byte / 4 == 0) chunk.x |= part;
                    else if (byte / 4 == 1) chunk.y |= part;
                    else if (byte / 4 == 2) chunk.z |= part;
                    else chunk.w |= part;
                }
            }
        }
        *(uint4*)(tile + row * (TK + CHUNK) + k) = chunk;
    }
}

template <int SIDE, int TM, int TN, int TK>
__global__ void __launch_bounds__(256)
gemm(const unsigned char* a, const unsigned char* b, float* c, int M, int N, int K) {
    using Matrix = Mfma<SIDE>;
    constexpr int WM = TM / 2, WN = TN / 2;  // a wavefront's part of the block's tile
    constexpr int PITCH = TK + CHUNK;
    __shared__ __attribute__((aligned(16))) unsigned char tile_a[TM * PITCH];
    __shared__ __attribute__((aligned(16))) unsigned char tile_b[TN * PITCH];

    const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    const int row0 = blockIdx.y * TM, col0 = blockIdx.x * TN;
    const int wave_row = wave / 2 * WM, wave_col = wave % 2 * WN;
    typename Matrix::Sums sums[WM / SIDE][WN / SIDE] = {};

    for (int k0 = 0; k0 < K; k0 += TK) {
        stage<TM, TK>(a, tile_a, row0, M, k0, K);
        stage<TN, TK>(b, tile_b, col0, N, k0, K);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TK; k += Matrix::K) {
            const int mine = k + k_of<SIDE, HELD>(lane, 0);
            long part_a[WM / SIDE], part_b[WN / SIDE];
#pragma unroll
            for (int i = 0; i < WM / SIDE; ++i) {
                int row = wave_row + i * SIDE + row_of_a<SIDE>(lane);
                part_a[i] = *(const long*)(tile_a + row * PITCH + mine);
            }
#pragma unroll
            for (int j = 0; j < WN / SIDE; ++j) {
                int col = wave_col + j * SIDE + col_of_b<SIDE>(lane);
                part_b[j] = *(const long*)(tile_b + col * PITCH + mine);
            }
#pragma unroll
            for (int i = 0; i < WM / SIDE; ++i)
#pragma unroll
                for (int j = 0; j < WN / SIDE; ++j)
                    sums[i][j] = Matrix::multiply(part_a[i], part_b[j], sums[i][j]);
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < WM / SIDE; ++i)
#pragma unroll
        for (int j = 0; j < WN / SIDE; ++j)
#pragma unroll
            for (int e = 0; e < SIDE * SIDE / 64; ++e) {
                int row = row0 + wave_row + i * SIDE + row_of_d<SIDE>(lane, e);
                int col = col0 + wave_col + j * SIDE + col_of_d<SIDE>(lane);
                if (row < M && col < N) c[(size_t)row * N + col] = sums[i][j][e];
            }
}
