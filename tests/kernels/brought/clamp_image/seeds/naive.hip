/*---
launches:
  - kernel: clamp
    grid: ["ceil_div(W * CHANNELS, 32)", "ceil_div(H, 8)"]
    block: [32, 8]
    args: [in, out, H, {value: "W * CHANNELS", type: int32}, gain, offset, low, {value: high, type: uint32}]
---*/
// Brings: a kernel named clamp, uint8 images, an argument named in, min of an int and an unsigned.
#include <hip/hip_runtime.h>
#include <cstdint>

typedef unsigned char uchar;

__global__ void clamp(const uchar* in, uchar* out, int height, int pitch, float gain, int offset,
                      int low, unsigned high)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= pitch || y >= height)
        return;

    int value = static_cast<int>(floorf(gain * in[y * pitch + x] + offset));
    value = max(value, low);
    out[y * pitch + x] = static_cast<uint8_t>(min(value, high));
}
