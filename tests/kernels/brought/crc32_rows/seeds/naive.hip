/*---
launches:
  - kernel: crc32_kernel
    grid: ["ceil_div(R, 64)"]
    block: [64]
    args: [data, lengths, crc, R, {value: L, type: uint64}]
---*/
// Brings: a __constant__ table, uint8_t and uint32_t, ragged lengths of inputs(), a size_t pitch.
#include <hip/hip_runtime.h>
#include <stdint.h>

__constant__ uint32_t crc_table[16] = {
    0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
    0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
    0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};

__global__ void crc32_kernel(const uint8_t *data, const int32_t *lengths, uint32_t *crc, int rows,
                             size_t pitch)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;

    const uint8_t *bytes = data + row * pitch;
    uint32_t c = ~0u;
    for (int i = 0; i < lengths[row]; i++) {
        c ^= bytes[i];
        c = crc_table[c & 0xf] ^ (c >> 4);
        c = crc_table[c & 0xf] ^ (c >> 4);
    }
    crc[row] = ~c;
}
