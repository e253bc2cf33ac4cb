/*---
launches:
  - kernel: "dequantize<4, 3, false>"
    when: "T == float8_e4m3fn"
    grid: ["ceil_div(C, 128)", R]
    block: [128]
    args: [q, scales, x, C]
  - kernel: "dequantize<5, 2, true>"
    when: "T == float8_e5m2"
    grid: ["ceil_div(C, 128)", R]
    block: [128]
    args: [q, scales, x, C]
---*/
// Brings: fp8 e4m3fn and e5m2, read as bytes and decoded by hand, as an MI300 knows neither; a
// launch that a dtype chooses, __uint_as_float, NAN and INFINITY.
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdint>

template <int EXPONENT, int MANTISSA, bool HAS_INFINITY>
__device__ float decode(uint8_t byte)
{
    constexpr uint32_t highest = (1u << EXPONENT) - 1, bias = highest / 2;
    const uint32_t exponent = (byte >> MANTISSA) & highest;
    const uint32_t mantissa = byte & ((1u << MANTISSA) - 1);

    float magnitude;
    if (exponent == 0)
        magnitude = mantissa * __uint_as_float((128 - bias - MANTISSA) << 23); // 2^(1 - bias - MANTISSA)
    else if (HAS_INFINITY && exponent == highest)
        magnitude = mantissa ? NAN : INFINITY;
    else if (!HAS_INFINITY && (byte & 0x7f) == 0x7f)
        magnitude = NAN;
    else
        magnitude = __uint_as_float((exponent + 127 - bias) << 23 | mantissa << (23 - MANTISSA));
    return byte & 0x80 ? -magnitude : magnitude;
}

template <int EXPONENT, int MANTISSA, bool HAS_INFINITY>
__global__ void dequantize(const uint8_t* __restrict__ q, const float* __restrict__ scales,
                           float* __restrict__ x, int cols)
{
    constexpr int group = 32;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (col >= cols) return;

    const int groups = (cols + group - 1) / group;
    const float scale = scales[row * groups + col / group];
    x[(size_t)row * cols + col] = decode<EXPONENT, MANTISSA, HAS_INFINITY>(q[(size_t)row * cols + col]) * scale;
}
