/*---
launches:
  - kernel: rope
    grid: ["ceil_div(B * S * H * (D // 2), 256)"]
    block: [256]
    args: [x, cos, sin, y, {value: "B * S * H * (D // 2)", type: int64}, S, H, D]
---*/
#include <hip/hip_bf16.h>
// Rotary position embedding in double precision: one pair a thread.
__global__ void rope(const __hip_bfloat16* x, const float* cosine, const float* sine, double* y,
                     long long pairs, int S, int H, int D) {
    long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    if (i < pairs) {
        int half = D / 2, d = i % half;
        long long head = i / half, place = head / H % S * half + d;
        double first = __bfloat162float(x[head * D + d]);
        double second = __bfloat162float(x[head * D + half + d]);
        y[head * D + d] = first * cosine[place] - second * sine[place];
        y[head * D + half + d] = second * cosine[place] + first * sine[place];
    }
}
