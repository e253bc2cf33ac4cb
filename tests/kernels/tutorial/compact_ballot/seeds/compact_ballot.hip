/*---
launches:
  - {memset: {buffer: kept, byte: 0}}
  - kernel: compact_positive
    grid: [ROWS]
    block: [128]
    args: [x, kept, count, COLS]
---*/
#include <hip/hip_runtime.h>

constexpr int BLOCK = 128;
constexpr int WAVES = BLOCK / WAVEFRONT;

__global__ void compact_positive(const float* __restrict__ x, float* __restrict__ kept,
                                 int* __restrict__ count, const int cols)
{
    __shared__ int wave_count[WAVES];

    const auto lane = threadIdx.x % WAVEFRONT;
    const auto wave = threadIdx.x / WAVEFRONT;
    const unsigned long long lanes_before = (1ull << lane) - 1ull;
    int written = 0;

    for (int start = 0; start < cols; start += BLOCK)
    {
        const int i = start + threadIdx.x;
        const float v = i < cols ? x[blockIdx.x * cols + i] : 0.0f;
        const bool keep = v > 0.0f;

        const unsigned long long votes = __ballot(keep);
        if (lane == 0)
            wave_count[wave] = __popcll(votes);
        __syncthreads();

        int position = written + __popcll(votes & lanes_before);
        for (unsigned int w = 0; w < WAVES; ++w)
        {
            if (w < wave) position += wave_count[w];
            written += wave_count[w];
        }
        if (keep)
            kept[blockIdx.x * cols + position] = v;
        __syncthreads(); // before the counts of the next chunk
    }

    if (threadIdx.x == 0)
        count[blockIdx.x] = written;
}
